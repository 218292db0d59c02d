/* What crema_c_test records, written in C: the header has to compile as C11, and its structs to be laid out alike. */
#ifndef CREMA_C_API_RECORDED_IN_C_FIXTURE_H_
#define CREMA_C_API_RECORDED_IN_C_FIXTURE_H_

#include "crema_c.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(readability-identifier-naming): names as C has them */

/* One chunk that uses everything a chunk can have. */
void record_full_chunk(void);
/* Two chunks of which nothing is known but the dataset; the second is said to have failed. */
void record_failure(const char* reason);
/* A chunk, and a second thread that helps it inside its section "cluster". */
void record_helper(void);
void record_suspended(void);
/* An event with two tasks on two threads, and a request that ends on the second one. */
void record_event(void);
/* A chunk whose sections are numbers: one inside the other, one with CPU time, one that fails; and one that is ended on
 * a second thread first, which does not count. */
void record_numbered_sections(void);
void close_a_section_twice(void);
/* Ends a chunk, and each kind of scope in it, twice, the second time after others have begun in their place; uses the
 * chunk after its end; and has two threads end the same chunk at the same time, again and again. */
void end_everything_twice(void);
/* Chunks and scopes by the thousand, more than one of each open at a time. */
void begin_thousands(void);
/* A line of stacks, and fields that are not a line; 1 where each call returned what it should. */
int record_stacks(void);
void record_cost(int64_t cpu_ns);
/* Takes back a chunk, a section and a scope right after they were begun. */
void take_back_what_was_begun(void);
/* Whether an open section, scope or chunk is known as such on its own thread, and no longer when it has ended. */
int knows_what_is_open(void);
/* A chunk with the columns "Muon_pt", "" and "Muon_eta" told at once, the last without its NUL. */
void record_many_columns(void);
/* A chunk, and the log's last line before the process ends. */
void record_and_end(void);
/* A span with a section outside chunks in it. */
void record_span(void);
/* Begins, uses and ends everything, with nulls for whatever may be null. */
void use_everything_with_nulls(void);
/* A chunk with sections and a helper; every section that is handed out after it is a metric named after its path, with
 * its self time in ns: of the first visit in the unit "owner" or "helper", of the second, to which nothing is left, in
 * "again". Before the chunk has ended nothing is handed out either ("early"). */
void record_visited_sections(void);
/* A chunk with one section; what is handed out of it as texts are metrics of the chunk around, in the unit "first", and
 * of the second visit "again". */
void record_visited_texts(void);
/* Switches recording on through crema_enable; what it returns. */
int enable_into(const char* directory);
/* The same by a program that was compiled when crema_options ended after `directory`. */
int enable_with_older_options(const char* directory);
/* Whether recording is off, and everything that is begun is null. */
int is_off_and_returns_nulls(void);

/* NOLINTEND(readability-identifier-naming) */

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* CREMA_C_API_RECORDED_IN_C_FIXTURE_H_ */
