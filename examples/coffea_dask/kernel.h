/* The kernel as Python calls it (kernel.py). */
#ifndef CREMA_EXAMPLES_COFFEA_DASK_KERNEL_H_
#define CREMA_EXAMPLES_COFFEA_DASK_KERNEL_H_

#include <stdint.h> /* NOLINT(modernize-deprecated-headers): C */

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(readability-identifier-naming): C names */

/* Columns of selected events. Jets of event i are `jet_offsets[i]` to `jet_offsets[i + 1] - 1`; momenta in GeV. */
struct jet_toys_events {
  int64_t size;
  const uint64_t* number;
  const int64_t* jet_offsets; /* size + 1 of them */
  const double* jet_pt;
  const double* jet_phi;
  const double* lepton_pt;
  const double* lepton_phi;
  const double* missing_pt;
  const double* missing_phi;
};

/* `bins` equal ones from 0 to `high` GeV. */
struct jet_toys_axis {
  int64_t bins;
  double high;
};

/* Adds to the counts of three histograms: HT, missing momentum, transverse mass. Each has bins + 1 of them, the last
 * for what is beyond the axis. `measured` gets one entry an event, `varied` one a toy. Sections: draw, measure. */
void jet_toys_fill(const struct jet_toys_events* events, int64_t toys, const struct jet_toys_axis* axis,
                   int64_t* measured, int64_t* varied);

/* NOLINTEND(readability-identifier-naming) */

#ifdef __cplusplus
}
#endif

#endif /* CREMA_EXAMPLES_COFFEA_DASK_KERNEL_H_ */
