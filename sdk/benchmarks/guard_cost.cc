#include <benchmark/benchmark.h>
#include "crema/crema.h"
static void Limit(benchmark::State& s){ unsigned long long stored=0; for(auto _: s){ auto a=__builtin_ia32_rdtsc(); auto b=__builtin_ia32_rdtsc(); stored=b-a; benchmark::DoNotOptimize(stored);} }
static void Section(benchmark::State& s){ crema::TrackMetrics c("x"); for(auto _: s){ crema::TrackSection r("read"); benchmark::ClobberMemory();} }
static void Siblings(benchmark::State& s){ crema::TrackMetrics c("x"); for(auto _: s){
 {crema::TrackSection r("read");benchmark::ClobberMemory();}{crema::TrackSection r("decompress");benchmark::ClobberMemory();}{crema::TrackSection r("select");benchmark::ClobberMemory();}{crema::TrackSection r("cluster");benchmark::ClobberMemory();}
 {crema::TrackSection r("fill");benchmark::ClobberMemory();}{crema::TrackSection r("calibrate");benchmark::ClobberMemory();}{crema::TrackSection r("systematics");benchmark::ClobberMemory();}{crema::TrackSection r("write");benchmark::ClobberMemory();} } }
static void Nested(benchmark::State& s){ crema::TrackMetrics c("x"); for(auto _: s){ crema::TrackSection a("read");benchmark::ClobberMemory(); {crema::TrackSection b("select");benchmark::ClobberMemory(); {crema::TrackSection d("jets");benchmark::ClobberMemory();}} } }
static void Off(benchmark::State& s){ crema::Disable(); for(auto _: s){ crema::TrackSection r("read"); benchmark::ClobberMemory();} crema::Enable({}); }
BENCHMARK(Limit)->Threads(1)->Threads(2); BENCHMARK(Section)->Threads(1)->Threads(2); BENCHMARK(Siblings); BENCHMARK(Nested); BENCHMARK(Off);
int main(int argc,char**argv){ crema::Options o; o.directory="/tmp/bench_rec"; o.interval_seconds=0; crema::Enable(o); benchmark::Initialize(&argc,argv); benchmark::RunSpecifiedBenchmarks(); }
