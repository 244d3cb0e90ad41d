# README.md shows the table of operators as the program prints it, and the example as it stands in examples/.
#
# cmake -DPROGRAM=... -DSOURCE=... -P readme_test.cmake
file(READ ${SOURCE}/README.md readme)

execute_process(COMMAND ${PROGRAM} operators --markdown OUTPUT_VARIABLE table COMMAND_ERROR_IS_FATAL ANY)
string(FIND "${readme}" "<!-- operators: begin -->\n${table}<!-- operators: end -->" place)
if(place EQUAL -1)
  message(FATAL_ERROR "README.md: the table of operators is not what 'binet operators --markdown' prints")
endif()

file(READ ${SOURCE}/examples/first_steps.cc example)
string(FIND "${readme}" "```cpp\n${example}```" place)
if(place EQUAL -1)
  message(FATAL_ERROR "README.md: the example is not examples/first_steps.cc")
endif()
