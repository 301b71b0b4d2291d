# nvcc with heddle's passes, for CMake 3.18 or later and any generator.
#
#   find_package(Heddle REQUIRED)
#   heddle_target(NAME [PASSES PASS...] [OPTIONS OPTION...])
#
# The CUDA sources of the target, those of the same folder that it has now, are compiled with the passes in this order. OPTIONS are
# further options of `heddle nvcc`: --require=registers<=96. A compiler launcher that the target has, such as ccache, stays.
# The sources are compiled again when one of these changes, or heddle does.
#
# For all targets of a project that is not to be changed:
#   cmake -DCMAKE_CUDA_COMPILER_LAUNCHER='heddle;nvcc;-p;bow;--' ...

find_program(Heddle_EXECUTABLE heddle HINTS ${CMAKE_CURRENT_LIST_DIR}/../../../bin ${CMAKE_CURRENT_LIST_DIR}/../build)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Heddle REQUIRED_VARS Heddle_EXECUTABLE)

function(heddle_target name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "PASSES;OPTIONS")
    if(NOT TARGET ${name})
        message(FATAL_ERROR "heddle_target: there is no target '${name}'")
    endif()
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "heddle_target: unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
    endif()
    set(launcher ${Heddle_EXECUTABLE} nvcc)
    if(arg_PASSES)
        list(JOIN arg_PASSES "," passes)
        list(APPEND launcher -p "${passes}")
    endif()
    list(APPEND launcher ${arg_OPTIONS} --)
    get_target_property(before ${name} CUDA_COMPILER_LAUNCHER)
    if(before)
        list(APPEND launcher ${before})
    endif()
    set_target_properties(${name} PROPERTIES CUDA_COMPILER_LAUNCHER "${launcher}")
    set(stamp ${CMAKE_CURRENT_BINARY_DIR}/heddle-${name}.stamp)
    file(CONFIGURE OUTPUT ${stamp} CONTENT "${launcher}\n" @ONLY)
    get_target_property(sources ${name} SOURCES)
    list(FILTER sources INCLUDE REGEX "\\.cu$")
    if(sources)
        set_property(SOURCE ${sources} APPEND PROPERTY OBJECT_DEPENDS ${stamp} ${Heddle_EXECUTABLE})
    endif()
endfunction()
