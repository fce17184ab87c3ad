"""No input of n bytes takes more than about linear time: work is counted as inputs grow."""
