package trace

import (
	"errors"
	"fmt"
	"io"
)

// unusable is why a record cannot be sent as it was recorded, with the remedy.
type unusable string

func (u unusable) Error() string { return string(u) }

// LeftOut counts the records of a file that are left out because they cannot be used.
type LeftOut struct {
	Count, Of int
	// first is the first reason, with its position.
	first error
}

// adds counts a record of which err was returned. It reports whether the record is left out.
func (l *LeftOut) adds(err error) bool {
	if errors.Is(err, io.EOF) {
		return false
	}
	l.Of++
	_, leaves := errors.AsType[unusable](err)
	if leaves {
		l.Count++
		if l.first == nil {
			l.first = err
		}
	}
	return leaves
}

// fewRecords may be left out of a file of any length.
const fewRecords = 10

// LeftOut returns the records that were left out until now. More than 5 % of them are an error without Skip.
func (r *Reader) LeftOut() (LeftOut, error) {
	l := r.leftOut
	if r.opts.Skip || l.Count <= fewRecords || 20*l.Count <= l.Of {
		return l, nil
	}
	return l, fmt.Errorf("%s: %s; replay the others with trace: {file: …, skip: true}", r.name, l)
}

// String returns the line that reports the records.
func (l LeftOut) String() string {
	return fmt.Sprintf("%d of %d records cannot be used and are left out, the first in %v", l.Count, l.Of, l.first)
}
