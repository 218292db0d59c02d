/* The SDK for C, and for languages that call C: Python (ctypes), Rust, Fortran. Link libcrema.so.1.
 *
 * Everything here has the meaning of its C++ counterpart (crema/crema.h): nothing fails, throws or blocks, and at most
 * one warning is printed; when recording is off, calls cost next to nothing and return nulls, which all other calls
 * accept. Text is UTF-8, ends with NUL, and is copied. What begins on a thread ends on it, innermost first.
 *
 * Chunks and scopes are handles, not addresses: one that is ended twice, on two threads at once, or used after its end
 * does nothing, and an end too many is counted. */
#ifndef CREMA_C_H_
#define CREMA_C_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CREMA_API __attribute__((visibility("default")))

/* For integers that are not known. */
#define CREMA_UNKNOWN ((int64_t)-1)

/* The library's version, as "0.1.0". */
CREMA_API const char* crema_version(void);

/* -- Recording on and off ------------------------------------------------------------------------------------------ */

/* Zero or null fields take the environment variable's value, else the default. Set `size` to sizeof(crema_options): so
 * that later versions can add fields. */
typedef struct crema_options {
  size_t size;
  const char* directory;   /* CREMA_DIR */
  const char* run_id;      /* CREMA_RUN_ID */
  const char* pass;        /* CREMA_PASS */
  int32_t threads;         /* CREMA_THREADS; 0: not set */
  int32_t trace;           /* CREMA_TRACE; nonzero: on */
  double interval_seconds; /* CREMA_INTERVAL; 0: not set, negative: no sampler */
  int64_t total_events;    /* CREMA_TOTAL_EVENTS; 0: not set */
  int32_t no_arguments;    /* CREMA_NO_ARGUMENTS; nonzero: leave the command line out */
} crema_options;

/* Whether recording is on afterwards. `options` may be null. */
CREMA_API int crema_enable(const crema_options* options);
CREMA_API void crema_disable(void);
CREMA_API int crema_enabled(void);
CREMA_API void crema_flush(void);
/* What exit(3) does for the log: writes its last line, after which nothing is recorded any more. For processes that
 * leave by _exit(2), as the children of Python's multiprocessing do. */
CREMA_API void crema_end(void);

/* -- Chunks -------------------------------------------------------------------------------------------------------- */

typedef struct crema_chunk_info {
  size_t size; /* sizeof(crema_chunk_info) */
  const char* dataset;
  const char* file;    /* null: none */
  const char* tree;    /* null: none */
  const char* pass;    /* null: CREMA_PASS, else the open span */
  int64_t entry_start; /* CREMA_UNKNOWN: not known */
  int64_t entry_stop;  /* CREMA_UNKNOWN: not known */
} crema_chunk_info;

typedef struct crema_chunk crema_chunk;

/* Begins a chunk on this thread; null when recording is off. Every chunk that is begun must be ended. */
CREMA_API crema_chunk* crema_chunk_begin(const crema_chunk_info* info);
CREMA_API void crema_chunk_end(crema_chunk* chunk);
/* Whether it was begun, on any thread, and not ended. */
CREMA_API int crema_chunk_is_open(const crema_chunk* chunk);
/* A chunk of a coroutine: leaves this thread before a point at which the coroutine may wait, with the sections that are
 * open inside it, and goes on where it is resumed, on this thread or another. No other chunk may be open inside it. */
CREMA_API void crema_chunk_suspend(crema_chunk* chunk);
CREMA_API void crema_chunk_resume(crema_chunk* chunk);
CREMA_API void crema_chunk_fail(crema_chunk* chunk, const char* reason);
CREMA_API void crema_chunk_set_events(crema_chunk* chunk, int64_t events);
/* `uncompressed` may be CREMA_UNKNOWN. */
CREMA_API void crema_chunk_add_bytes_read(crema_chunk* chunk, int64_t stored, int64_t uncompressed);
CREMA_API void crema_chunk_add_column(crema_chunk* chunk, const char* name);
/* Many in one call: each name ends with NUL, `size` bytes in all. */
CREMA_API void crema_chunk_add_columns(crema_chunk* chunk, const char* names, size_t size);
/* What the chunk's file holds in all; any may be CREMA_UNKNOWN. Written once per file and process. */
CREMA_API void crema_chunk_set_file_info(crema_chunk* chunk, int64_t branches, int64_t bytes, int64_t compressed_bytes);
CREMA_API void crema_chunk_set_attribute(crema_chunk* chunk, const char* name, const char* value);

/* -- Sections, memory, activities, spans ----------------------------------------------------------------------------
 */

/* A section is a value, not an object: no memory is allocated for it. */
typedef struct crema_section {
  void* node; /* null: not recorded */
  uint64_t start_ticks;
} crema_section;

CREMA_API crema_section crema_section_enter(const char* name);
CREMA_API void crema_section_exit(crema_section section);

/* The same where structs are dear, as in Python's ctypes: the section is a number, 0 when it is not recorded. */
CREMA_API int32_t crema_section_open(const char* name);
/* With its CPU time: two system calls (about 1 us) more. */
CREMA_API int32_t crema_cpu_section_open(const char* name);
CREMA_API void crema_section_close(int32_t section);
/* The section is left by an exception. Only C++ sections notice this themselves. */
CREMA_API void crema_section_close_failed(int32_t section);
/* Whether it is open on this thread. */
CREMA_API int crema_section_is_open(int32_t section);

/* A section of a chunk that is over, as the record has it. */
typedef struct crema_section_total {
  size_t size;       /* sizeof(crema_section_total) as the library has it: later versions add fields */
  const char* path;  /* "select/jets", a '/' inside a name being %2F; "": the chunk itself. Until the visitor returns */
  int32_t is_helper; /* nonzero: measured on threads that helped */
  uint64_t count;
  int64_t total_ns;
  int64_t self_ns; /* less the sections inside it; those of the chunk's own thread add up to its duration */
} crema_section_total;

typedef void (*crema_section_visitor)(void* context, const crema_section_total* section);

/* Calls the visitor for the chunk that ended last on this thread, then for each of its sections; returns how often.
 * Each chunk is handed out once, and not any more when the next one has begun. */
CREMA_API size_t crema_visit_sections(crema_section_visitor visitor, void* context);

typedef void (*crema_section_text_visitor)(void* context, const char* text);

/* The same, each as one text: its self time in ns, a space, 1 where threads that helped measured it, else 0, a space,
 * and its path. */
CREMA_API size_t crema_visit_section_texts(crema_section_text_visitor visitor, void* context);

typedef struct crema_scope crema_scope;

/* Each of these ends with crema_scope_end; null when it is not recorded. */
CREMA_API crema_scope* crema_cpu_section_begin(const char* name);
CREMA_API crema_scope* crema_memory_begin(const char* name);
CREMA_API crema_scope* crema_activity_begin(const char* label);
CREMA_API crema_scope* crema_span_begin(const char* name);
CREMA_API void crema_scope_end(crema_scope* scope);
/* Whether it was begun on this thread, and not ended. */
CREMA_API int crema_scope_is_open(const crema_scope* scope);

/* Ends the chunk, section or scope that this thread began last, a chunk or a section as failed; nothing where it was
 * not recorded, or has ended, and where an event or a request came after it. For callers that an exception robs of what
 * it returned, as a signal handler of Python does between the call and the name that its result is given. */
CREMA_API void crema_take_back(void);

/* -- Helper threads ------------------------------------------------------------------------------------------------ */

typedef struct crema_chunk_handle {
  void* state; /* null: no chunk */
  uint64_t generation;
  const void* section;
} crema_chunk_handle;

/* On the chunk's own thread. */
CREMA_API crema_chunk_handle crema_chunk_get_handle(const crema_chunk* chunk);
/* On the helping thread; ends with crema_scope_end. */
CREMA_API crema_scope* crema_helper_begin(crema_chunk_handle handle);

/* -- Events that go from thread to thread -------------------------------------------------------------------------- */

typedef struct crema_event crema_event;
typedef struct crema_request crema_request;

/* Refers to an open event from any thread. All zero: no event. */
typedef struct crema_event_handle {
  void* slot;
  uint32_t generation;
} crema_event_handle;

/* What crema_mark_ready noted. All zero: nothing. */
typedef struct crema_ready {
  int64_t time_ns;
  uint64_t ran;
  void* module;
  int32_t by;
} crema_ready;

/* An event that no thread holds; `summed`: without lines of its own. Begin and end it on any thread. */
CREMA_API crema_event* crema_event_begin(const crema_chunk_info* info, int summed);
CREMA_API void crema_event_end(crema_event* event);
CREMA_API void crema_event_set_events(crema_event* event, int64_t events);
CREMA_API void crema_event_fail(crema_event* event, const char* reason);
CREMA_API crema_event_handle crema_event_get_handle(const crema_event* event);
/* The event that this thread works for. */
CREMA_API crema_event_handle crema_current_event(void);
/* A task of this name could run for the event from now on. */
CREMA_API crema_ready crema_mark_ready(crema_event_handle event, const char* task);
/* This thread works for the event, until crema_scope_end. `ready` may be null. */
CREMA_API crema_scope* crema_task_begin(crema_event_handle event, const char* name, const crema_ready* ready);
/* The event waits for something outside; ends on any thread. Negative bytes: not known. */
CREMA_API crema_request* crema_request_begin(crema_event_handle event, const char* server, const char* operation);
CREMA_API void crema_request_end(crema_request* request, int64_t bytes, int failed);

/* -- Data of the chunk that this thread works for ---------------------------------------------------------------------
 */

/* `unit` may be null. */
CREMA_API void crema_record_metric(const char* name, double value, const char* unit);
CREMA_API void crema_record_cut(const char* name, int64_t events);
CREMA_API void crema_record_cut_weighted(const char* name, int64_t events, double sum_of_weights);
/* With the events that the cut was asked about: `parent` is the cut that they passed (null: none), `seen` how many
 * there were (negative: those that passed the parent), `flow` which of several cut flows (null: the only one).
 * `sum_of_weights` may be null. */
CREMA_API void crema_record_cut_after(const char* name, int64_t events, const double* sum_of_weights,
                                      const char* parent, int64_t seen, const char* flow);
CREMA_API void crema_record_activity(const char* label, double value, const char* unit);
/* One request to storage that took `nanoseconds`; `bytes` negative: not known; `failed` nonzero: it failed. Call it
 * where the request was waited for: on a thread that works for the chunk. */
CREMA_API void crema_record_request(const char* server, const char* operation, int64_t bytes, int64_t nanoseconds,
                                    int failed);
CREMA_API void crema_add_bytes_read(int64_t stored, int64_t uncompressed);
CREMA_API void crema_set_attribute(const char* name, const char* value);

/* For packages of interpreted languages: writes a line `stacks` (docs/record_log.md) with these `size` bytes of fields,
 * JSON without the braces around them; 0: none, only the cost is added. `cost_ns`: what sampling took since the call
 * before. Returns whether the line is in the log. From the first call on, the library takes no stacks of native code.
 */
CREMA_API int crema_write_stacks(const char* fields, size_t size, int64_t cost_ns);

/* For packages of interpreted languages: adds `cpu_ns`, CPU time that their part of recording took, to `overhead_ns`.
 */
CREMA_API void crema_add_cost(int64_t cpu_ns);

/* For other copies of this library in the process; not for users. */
CREMA_API const void* crema_shared_copy(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* CREMA_C_H_ */
