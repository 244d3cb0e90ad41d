# How the rooms say what they consist of: binet_sources, binet_small_sources, binet_decision_sources,
# binet_kernel_sources, binet_test, binet_benchmark.

add_library(binet_options INTERFACE)
target_compile_options(binet_options INTERFACE
  -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Wcast-qual -Wimplicit-fallthrough
  # GCC 12 sees overlapping copies in std::string where there are none (GCC bug 105651).
  -Wno-restrict
  # A product that is fused or not changes bits: kernels say which one they mean.
  -ffp-contract=off
  $<$<BOOL:${BINET_WARNINGS_AS_ERRORS}>:-Werror>)
if(BINET_SANITIZE)
  string(REPLACE ";" "," sanitizers "${BINET_SANITIZE}")
  target_compile_options(binet_options INTERFACE -fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(binet_options INTERFACE -fsanitize=${sanitizers})
endif()

# All of the library's code once, for the shared library and for the unit tests, which look inside.
add_library(binet_rooms STATIC)

# A room's files, and how a release compiles them.
function(binet_sources_with options)
  target_sources(binet_rooms PRIVATE ${ARGN})
  set_property(SOURCE ${ARGN} TARGET_DIRECTORY binet_rooms APPEND PROPERTY COMPILE_OPTIONS
    "$<$<CONFIG:Release>:${options}>")
endfunction()

# binet_sources(file...): adds a room's files to the library. What they do in each call is to decide and to hand on;
# that GCC's -O3 inlines more of it, and unrolls loops over a few loops or nodes, is felt in 14 KB alone.
function(binet_sources)
  binet_sources_with(-O2 ${ARGN})
endfunction()

# binet_small_sources(file...): the same for what runs once for each model, and had better be small than fast: it is
# most of what is read from disk when a program starts.
function(binet_small_sources)
  binet_sources_with(-Os ${ARGN})
endfunction()

# What GCC's -O3 does beside -O2 makes other loops for other cases. Kernels have theirs already: their times are the same
# without, and without room before the targets of jumps, and they are 6 % smaller. (Where a loop asks for each vector of
# a far result whether to stream it, for one, the branch costs nothing.)
set(binet_loops_as_written -fno-unswitch-loops -fno-peel-loops -fno-split-loops -fno-split-paths -fno-ipa-cp-clone
  -fno-gcse-after-reload -fno-version-loops-for-strides -fno-predictive-commoning -fno-loop-unroll-and-jam
  -fno-tree-partial-pre -fno-tree-scev-cprop -fno-align-jumps)

# Options of these files in releases, but not beside sanitizers.
function(binet_release_options options)
  if(NOT BINET_SANITIZE)
    set_property(SOURCE ${ARGN} TARGET_DIRECTORY binet_rooms APPEND PROPERTY COMPILE_OPTIONS "$<$<CONFIG:Release>:${options}>")
  endif()
endfunction()

# What nothing is thrown through has no tables of how to unwind its stack, which few debuggers and profilers need: 127 KB
# of kernels. Other builds than releases have them.
set(binet_without_unwind_tables -fno-exceptions -fno-unwind-tables -fno-asynchronous-unwind-tables)

# binet_decision_sources(file...): small sources that compare numbers, and neither allocate nor throw.
function(binet_decision_sources)
  binet_small_sources(${ARGN})
  binet_release_options("${binet_without_unwind_tables}" ${ARGN})
endfunction()

# binet_kernel_sources(file...): loops over numbers, which nothing is thrown through either.
function(binet_kernel_sources)
  binet_sources_with(-O3 ${ARGN})
  binet_release_options("${binet_without_unwind_tables}" ${ARGN})
  binet_release_options("$<$<CXX_COMPILER_ID:GNU>:${binet_loops_as_written}>" ${ARGN})
endfunction()

# binet_test(name file...): a GoogleTest program; CTest runs each of its tests.
function(binet_test name)
  if(NOT BINET_BUILD_TESTS)
    return()
  endif()
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE binet_rooms binet_options GTest::gtest GTest::gtest_main)
  gtest_discover_tests(${name} PROPERTIES LABELS unit TIMEOUT 600 DISCOVERY_TIMEOUT 60)
endfunction()

# binet_benchmark(name file...): a Google Benchmark program, run by `./dev bench`.
function(binet_benchmark name)
  if(NOT BINET_BUILD_BENCHMARKS)
    return()
  endif()
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE binet_rooms binet_options benchmark::benchmark)
endfunction()
