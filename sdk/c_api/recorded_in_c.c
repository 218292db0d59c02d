#include "recorded_in_c_fixture.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

static crema_chunk_info dataset_only(const char* dataset) {
  crema_chunk_info info = {sizeof(crema_chunk_info), dataset, NULL, NULL, NULL, CREMA_UNKNOWN, CREMA_UNKNOWN};
  return info;
}

void record_full_chunk(void) {
  crema_chunk_info info = {sizeof(crema_chunk_info), "ttbar", "/data/events.root", "Events", "second pass", 1000, 2000};
  crema_chunk* chunk = crema_chunk_begin(&info);
  for (int i = 0; i < 3; ++i) {
    crema_section outer = crema_section_enter("select");
    crema_section inner = crema_section_enter("jets");
    crema_section_exit(inner);
    crema_section_exit(outer);
  }
  crema_scope* cpu = crema_cpu_section_begin("fill");
  crema_scope* memory = crema_memory_begin("histograms");
  crema_scope_end(memory);
  crema_scope_end(cpu);
  crema_scope* activity = crema_activity_begin("decompress");
  crema_scope_end(activity);
  crema_record_activity("basket cache", 12, "count");
  crema_record_metric("jets", 4, "count");
  crema_record_metric("jets", 6, "count");
  crema_record_metric("no unit", 0.5, NULL);
  crema_record_cut("all", 1000);
  crema_record_cut_weighted("two leptons", 250, 249.5);
  const double weights = 99.5;
  crema_record_cut_after("MET", 100, &weights, "two leptons", 240, "signal");
  crema_add_bytes_read(100, 300);
  crema_chunk_add_bytes_read(chunk, 11, 22);
  crema_chunk_add_column(chunk, "Muon_pt");
  crema_chunk_add_column(chunk, "Muon_eta");
  crema_chunk_add_column(chunk, "Muon_pt");
  crema_chunk_set_file_info(chunk, 312, 91234567, CREMA_UNKNOWN);
  crema_chunk_set_attribute(chunk, "generator", "madgraph");
  crema_set_attribute("site", "here");
  crema_chunk_set_events(chunk, 1000);
  crema_chunk_end(chunk);
}

int record_stacks(void) {
  const char* fields = "\"section\":\"select\",\"stacks\":[[3,3,0]]";
  const char* two_lines = "\"section\":\"\"}\n{\"type\":\"end\"";
  return crema_write_stacks(fields, strlen(fields), 70000) == 1 && crema_write_stacks(NULL, 0, 5) == 1 &&
         crema_write_stacks(two_lines, strlen(two_lines), 0) == 0;
}

void record_cost(int64_t cpu_ns) { crema_add_cost(cpu_ns); }

void record_failure(const char* reason) {
  crema_chunk_info info = dataset_only("good");
  crema_chunk_end(crema_chunk_begin(&info));
  info.dataset = "bad";
  crema_chunk* chunk = crema_chunk_begin(&info);
  crema_chunk_fail(chunk, reason);
  crema_chunk_end(chunk);
}

static void* help(void* handle) {
  crema_scope* helper = crema_helper_begin(*(crema_chunk_handle*)handle);
  crema_section section = crema_section_enter("anti-kt");
  crema_record_metric("jets", 5, "count");
  crema_section_exit(section);
  crema_scope_end(helper);
  return NULL;
}

void record_helper(void) {
  crema_chunk_info info = dataset_only("ttbar");
  crema_chunk* chunk = crema_chunk_begin(&info);
  crema_section section = crema_section_enter("cluster");
  crema_chunk_handle handle = crema_chunk_get_handle(chunk);
  pthread_t thread;
  if (pthread_create(&thread, NULL, help, &handle) == 0) pthread_join(thread, NULL);
  crema_section_exit(section);
  crema_chunk_end(chunk);
}

struct event_and_request {
  crema_event* event;
  crema_request* request;
  crema_ready ready;
};

static void* end_event_elsewhere(void* given) {
  struct event_and_request* all = given;
  crema_request_end(all->request, 1000, 0);
  crema_scope* task = crema_task_begin(crema_event_get_handle(all->event), "tracks", &all->ready);
  crema_scope_end(task);
  crema_event_set_events(all->event, 3);
  crema_event_fail(all->event, "no tracks");
  crema_event_end(all->event);
  return NULL;
}

void record_event(void) {
  crema_chunk_info info = dataset_only("raw");
  struct event_and_request all;
  all.event = crema_event_begin(&info, 0);
  crema_scope* task = crema_task_begin(crema_event_get_handle(all.event), "source", NULL);
  all.request = crema_request_begin(crema_current_event(), "triton://t4", "infer");
  all.ready = crema_mark_ready(crema_current_event(), "tracks");
  crema_scope_end(task);
  pthread_t thread;
  if (pthread_create(&thread, NULL, end_event_elsewhere, &all) == 0) pthread_join(thread, NULL);
}

static void* close_elsewhere(void* section) {
  crema_section_close(*(int32_t*)section);
  return NULL;
}

void record_numbered_sections(void) {
  crema_chunk_info info = dataset_only("ttbar");
  crema_chunk* chunk = crema_chunk_begin(&info);
  int32_t outer = crema_section_open("select");
  for (int i = 0; i < 3; ++i) {
    int32_t inner = crema_section_open("jets");
    if (i < 2) {
      crema_section_close(inner);
    } else {
      crema_section_close_failed(inner);
    }
  }
  crema_section_close(outer);
  crema_section_close(crema_cpu_section_open("fill"));
  int32_t foreign = crema_section_open("foreign");
  pthread_t thread;
  if (pthread_create(&thread, NULL, close_elsewhere, &foreign) == 0) pthread_join(thread, NULL);
  crema_section_close(foreign);
  crema_section_close(0);
  crema_chunk_end(chunk);
}

void close_a_section_twice(void) {
  crema_chunk_info info = dataset_only("ttbar");
  crema_chunk* chunk = crema_chunk_begin(&info);
  int32_t section = crema_section_open("select");
  crema_section_close(section);
  crema_section_close(section);
  crema_chunk_end(chunk);
}

static void* end_elsewhere(void* chunk) {
  crema_chunk_end((crema_chunk*)chunk);
  return NULL;
}

static void* go_on_elsewhere(void* chunk) {
  crema_chunk_resume((crema_chunk*)chunk);
  crema_section_exit(crema_section_enter("elsewhere"));
  crema_chunk_suspend((crema_chunk*)chunk);
  return NULL;
}

void record_suspended(void) {
  crema_chunk_info info = dataset_only("moves");
  crema_chunk* chunk = crema_chunk_begin(&info);
  crema_section section = crema_section_enter("select");
  int32_t number = crema_section_open("jets");
  crema_chunk_suspend(chunk);
  info.dataset = "between";
  crema_chunk_end(crema_chunk_begin(&info));
  pthread_t thread;
  if (pthread_create(&thread, NULL, go_on_elsewhere, chunk) == 0) pthread_join(thread, NULL);
  crema_chunk_resume(chunk);
  if (crema_section_is_open(number)) crema_record_metric("known again", 1, NULL);
  crema_section_close(number);
  crema_section_exit(section);
  crema_chunk_end(chunk);
  crema_chunk_suspend(chunk);
  crema_chunk_resume(chunk);
  crema_chunk_suspend(NULL);
  crema_chunk_resume(NULL);
}

void end_everything_twice(void) {
  crema_chunk_info info = dataset_only("first");
  crema_chunk* chunk = crema_chunk_begin(&info);
  crema_chunk_handle handle = crema_chunk_get_handle(chunk);
  crema_scope* scopes[4] = {crema_cpu_section_begin("cpu"), crema_memory_begin("memory"), crema_activity_begin("read"),
                            crema_span_begin("span")};
  for (int i = 3; i >= 0; --i) crema_scope_end(scopes[i]);
  crema_chunk_end(chunk);
  info.dataset = "second";
  crema_chunk* second = crema_chunk_begin(&info);
  crema_scope* others[4] = {crema_cpu_section_begin("cpu"), crema_memory_begin("memory"), crema_activity_begin("read"),
                            crema_span_begin("span")};
  for (int i = 0; i < 4; ++i) crema_scope_end(scopes[i]);
  crema_chunk_set_events(chunk, 7);
  crema_chunk_fail(chunk, "told to a chunk that is over");
  crema_scope_end(crema_helper_begin(handle));
  crema_scope_end(crema_helper_begin(crema_chunk_get_handle(chunk)));
  crema_chunk_end(chunk);
  crema_scope_end((crema_scope*)second);
  crema_chunk_end((crema_chunk*)others[0]);
  for (int i = 3; i >= 0; --i) crema_scope_end(others[i]);
  crema_chunk_set_events(second, 2);
  crema_chunk_end(second);
  info.dataset = "raced";
  for (int i = 0; i < 200; ++i) {
    crema_chunk* raced = crema_chunk_begin(&info);
    pthread_t threads[2];
    for (int j = 0; j < 2; ++j) {
      if (pthread_create(&threads[j], NULL, end_elsewhere, raced) != 0) return;
    }
    for (int j = 0; j < 2; ++j) pthread_join(threads[j], NULL);
  }
}

void begin_thousands(void) {
  crema_chunk_info info = dataset_only("ttbar");
  for (int i = 0; i < 3000; ++i) {
    crema_chunk* chunk = crema_chunk_begin(&info);
    crema_scope* scopes[20];
    for (int j = 0; j < 20; ++j) scopes[j] = crema_activity_begin("nested");
    for (int j = 19; j >= 0; --j) crema_scope_end(scopes[j]);
    crema_chunk_end(chunk);
  }
}

void take_back_what_was_begun(void) {
  crema_chunk_info info = dataset_only("taken back");
  crema_chunk_begin(&info);
  crema_take_back();
  crema_take_back();
  info.dataset = "ttbar";
  crema_chunk* chunk = crema_chunk_begin(&info);
  int32_t outer = crema_section_open("outer");
  crema_section_open("inner");
  crema_take_back();
  crema_take_back();
  crema_activity_begin("read");
  crema_take_back();
  crema_section_close(crema_section_open("after"));
  crema_take_back();
  crema_section_close(outer);
  crema_take_back();
  crema_chunk_end(chunk);
}

static void* is_open_elsewhere(void* scope) { return crema_scope_is_open((const crema_scope*)scope) ? scope : NULL; }

int knows_what_is_open(void) {
  crema_chunk_info info = dataset_only("ttbar");
  crema_chunk* chunk = crema_chunk_begin(&info);
  int32_t section = crema_section_open("select");
  crema_scope* scope = crema_memory_begin("memory");
  int known = crema_chunk_is_open(chunk) && crema_section_is_open(section) && crema_scope_is_open(scope) &&
              !crema_chunk_is_open(NULL) && !crema_section_is_open(0) && !crema_scope_is_open(NULL);
  pthread_t thread;
  void* elsewhere = scope;
  if (pthread_create(&thread, NULL, is_open_elsewhere, scope) == 0) pthread_join(thread, &elsewhere);
  crema_scope_end(scope);
  crema_section_close(section);
  crema_chunk_end(chunk);
  return known && elsewhere == NULL && !crema_chunk_is_open(chunk) && !crema_section_is_open(section) &&
         !crema_scope_is_open(scope);
}

void record_many_columns(void) {
  static const char names[] = {'M', 'u', 'o', 'n', '_', 'p', 't', 0, 0, 'M', 'u', 'o', 'n', '_', 'e', 't', 'a'};
  crema_chunk_info info = dataset_only("ttbar");
  crema_chunk* chunk = crema_chunk_begin(&info);
  crema_chunk_add_columns(chunk, names, sizeof names);
  crema_chunk_add_columns(chunk, NULL, 1);
  crema_chunk_add_columns(NULL, names, sizeof names);
  crema_chunk_end(chunk);
}

void record_and_end(void) {
  crema_chunk_info info = dataset_only("ttbar");
  crema_chunk_end(crema_chunk_begin(&info));
  crema_end();
  crema_chunk_end(crema_chunk_begin(&info));
  crema_end();
}

static void note(void* context, const crema_section_total* section) {
  if (section->size != sizeof *section || section->self_ns > section->total_ns || section->count == 0) return;
  const char* unit = context != NULL ? (const char*)context : section->is_helper ? "helper" : "owner";
  crema_record_metric(section->path[0] == 0 ? "(chunk)" : section->path, (double)section->self_ns, unit);
}

static void note_text(void* context, const char* text) { crema_record_metric(text, 1, (const char*)context); }

void record_visited_texts(void) {
  crema_chunk_info info = dataset_only("around");
  crema_chunk* around = crema_chunk_begin(&info);
  info.dataset = "ttbar";
  info.file = "events.root";
  crema_chunk* chunk = crema_chunk_begin(&info);
  crema_section_exit(crema_section_enter("jets/b jets"));
  crema_chunk_end(chunk);
  crema_visit_section_texts(note_text, "first");
  crema_visit_section_texts(note_text, "again");
  crema_visit_section_texts(NULL, NULL);
  crema_chunk_end(around);
}

void record_visited_sections(void) {
  crema_chunk_info info = dataset_only("around");
  crema_chunk* around = crema_chunk_begin(&info);
  info.dataset = "ttbar";
  info.file = "events.root";
  crema_chunk* chunk = crema_chunk_begin(&info);
  crema_section outer = crema_section_enter("select");
  for (int i = 0; i < 3; ++i) crema_section_exit(crema_section_enter("jets/bjets"));
  crema_chunk_handle handle = crema_chunk_get_handle(chunk);
  pthread_t thread;
  if (pthread_create(&thread, NULL, help, &handle) == 0) pthread_join(thread, NULL);
  crema_section_exit(outer);
  crema_visit_sections(note, "early");
  crema_chunk_end(chunk);
  crema_visit_sections(note, NULL);
  crema_visit_sections(note, "again");
  crema_visit_sections(NULL, NULL);
  crema_chunk_end(around);
}

void record_span(void) {
  crema_scope* span = crema_span_begin("preprocess");
  crema_section section = crema_section_enter("set up");
  crema_section_exit(section);
  crema_scope_end(span);
  crema_flush();
}

void use_everything_with_nulls(void) {
  crema_chunk_end(crema_chunk_begin(NULL));
  crema_chunk_info info = dataset_only(NULL);
  crema_chunk* chunk = crema_chunk_begin(&info);
  crema_chunk_fail(chunk, NULL);
  crema_chunk_add_column(chunk, NULL);
  crema_chunk_set_attribute(chunk, NULL, NULL);
  crema_section section = crema_section_enter(NULL);
  crema_section_exit(section);
  crema_scope_end(crema_cpu_section_begin(NULL));
  crema_scope_end(crema_memory_begin(NULL));
  crema_scope_end(crema_activity_begin(NULL));
  crema_scope_end(crema_span_begin(NULL));
  crema_record_metric(NULL, 1, NULL);
  crema_record_cut(NULL, 1);
  crema_record_cut_after(NULL, 1, NULL, NULL, -1, NULL);
  crema_record_activity(NULL, 1, NULL);
  crema_set_attribute(NULL, NULL);
  crema_chunk_end(chunk);

  crema_section no_section = {NULL, 0};
  crema_chunk_handle no_chunk = {NULL, 0, NULL};
  crema_section_exit(no_section);
  crema_scope_end(crema_helper_begin(no_chunk));
  crema_scope_end(crema_helper_begin(crema_chunk_get_handle(NULL)));
  crema_scope_end(NULL);
  crema_chunk_set_events(NULL, 1);
  crema_chunk_add_bytes_read(NULL, 1, 1);
  crema_chunk_add_column(NULL, "x");
  crema_chunk_set_file_info(NULL, 1, 1, 1);
  crema_chunk_set_attribute(NULL, "x", "y");
  crema_chunk_fail(NULL, "x");
  crema_chunk_end(NULL);
}

int enable_into(const char* directory) {
  crema_options options = {0};
  options.size = sizeof options;
  options.directory = directory;
  options.run_id = "run 7";
  options.threads = 3;
  options.interval_seconds = -1;
  options.total_events = 5000;
  options.no_arguments = 1;
  return crema_enable(&options);
}

int enable_with_older_options(const char* directory) {
  crema_options options = {0};
  options.size = offsetof(crema_options, run_id);
  options.directory = directory;
  options.run_id = "what an older program has in this place";
  options.threads = 99;
  return crema_enable(&options);
}

int is_off_and_returns_nulls(void) {
  crema_chunk_info info = dataset_only("ttbar");
  return !crema_enabled() && crema_chunk_begin(&info) == NULL && crema_section_enter("read").node == NULL &&
         crema_memory_begin("jets") == NULL && crema_activity_begin("read") == NULL && crema_span_begin("x") == NULL;
}
