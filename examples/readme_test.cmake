# The C program in the README is the one that is compiled.
file(READ "${README}" readme)
file(READ "${SOURCE}" source)
string(FIND "${readme}" "```c\n${source}```\n" found)
if(found EQUAL -1)
    message(FATAL_ERROR "the C example in ${README} is not ${SOURCE}")
endif()
