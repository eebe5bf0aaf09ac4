package recall

import (
	"fmt"
	"slices"
)

// Result says whether an answer has the reference that its question asked for. The values are label
// values.
type Result string

const (
	Right Result = "right"
	// Wrong: the code is missing or altered.
	Wrong Result = "wrong"
	// Foreign: the answer has a code of another conversation.
	Foreign Result = "foreign"
)

// searched is the number of bytes at each end of an answer that Judge searches for codes.
const searched = 16 << 10

// Judge returns the result of an answer, and its foreign codes. known are the codes of the conversation,
// and foreign codes that earlier answers brought into it. asked is the code that the question asked for.
// If it is "", the question asked for none, and the result is Foreign or "". Judge searches the first and
// the last 16 kB.
func Judge(answer string, known []Code, asked Code) (result Result, foreign []Code) {
	var found []Code
	if len(answer) <= 2*searched {
		found = Find(answer)
	} else {
		found = append(Find(answer[:searched]), Find(answer[len(answer)-searched:])...)
	}
	for _, c := range found {
		if !slices.Contains(known, c) {
			foreign = append(foreign, c)
		}
	}
	switch {
	case len(foreign) > 0:
		return Foreign, foreign
	case asked == "":
		return "", nil
	case slices.Contains(found, asked):
		return Right, nil
	}
	return Wrong, nil
}

// Statement is the sentence that gives reference n. References count from 1.
func Statement(n int, c Code) string { return fmt.Sprintf("Reference %d: %s.", n, c) }

// Request is the sentence that asks for reference n.
func Request(n int) string {
	return fmt.Sprintf("Begin your answer with reference %d.", n)
}

// UnknownDepth is the class of answers to questions that asked for no reference.
const UnknownDepth = "unknown"

// depths are the bounds of the classes of depth, in tokens.
var depths = []struct {
	below int
	class string
}{{1_000, "0-1k"}, {8_000, "1k-8k"}, {32_000, "8k-32k"}, {128_000, "32k-128k"}}

// deepest is the class above the last bound.
const deepest = "128k+"

// Depth returns the class of a number of tokens before a code.
func Depth(tokens int) string {
	for _, d := range depths {
		if tokens < d.below {
			return d.class
		}
	}
	return deepest
}

// Depths returns all classes of depth.
func Depths() (all []string) {
	for _, d := range depths {
		all = append(all, d.class)
	}
	return append(all, deepest, UnknownDepth)
}
