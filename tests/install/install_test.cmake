# Run by CTest, with the variables that CMakeLists.txt in this folder passes.
set(prefix ${scratch}/prefix)
file(REMOVE_RECURSE ${prefix} ${scratch}/moved ${scratch}/consumer)

# run(what COMMAND...): ends the test if the command fails; its output is in `output`.
function(run what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${what}: ${status}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

run("cmake --install" ${CMAKE_COMMAND} --install ${build} --config ${config} --prefix ${prefix})

# Whoever unpacks an archive puts the files somewhere else than they were installed to.
file(RENAME ${prefix} ${scratch}/moved)
set(prefix ${scratch}/moved)

run("configuring an outside project" ${CMAKE_COMMAND} -S ${consumer} -B ${scratch}/consumer -G ${generator}
  -D CMAKE_CXX_COMPILER=${compiler} -D CMAKE_BUILD_TYPE=${config} -D CMAKE_PREFIX_PATH=${prefix})
file(STRINGS ${scratch}/consumer/CMakeCache.txt found REGEX "^binet_DIR:PATH=${prefix}/")
if(NOT found)
  message(FATAL_ERROR "find_package found another binet than the one under test")
endif()
run("building an outside project" ${CMAKE_COMMAND} --build ${scratch}/consumer --config ${config})
run("running an outside program" ${scratch}/consumer/consumer ${model})

find_program(pkg_config pkg-config)
if(pkg_config)
  file(GLOB_RECURSE pc_file ${prefix}/*/binet.pc)
  get_filename_component(pc_folder ${pc_file} DIRECTORY)
  run("pkg-config" ${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${pc_folder} ${pkg_config} --cflags --libs binet)
  separate_arguments(flags UNIX_COMMAND "${output}")
  run("building with pkg-config's flags" ${compiler} -std=c++20 ${consumer}/main.cc -o ${scratch}/consumer/by_pkg_config
    ${flags} -Wl,-rpath,${pc_folder}/..)
  run("running what was built with pkg-config's flags" ${scratch}/consumer/by_pkg_config ${model})
endif()

if(with_program)
  run("binet --version" ${prefix}/bin/binet --version)
  if(NOT output MATCHES "${version}")
    message(FATAL_ERROR "binet --version says ${output}, not ${version}")
  endif()
endif()
