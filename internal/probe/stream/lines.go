package stream

import "bytes"

const byteOrderMark = "\xEF\xBB\xBF"

// lines splits a stream into lines that end in LF, CR or CRLF, in a buffer
// that grows only for a line that does not fit. A line is delivered as soon as
// its end is sure: a CR does not wait for the LF that may follow.
type lines struct {
	buf        []byte
	start, end int // the bytes read and not yet returned
	scanned    int // no line end before this
	lf         int // the first LF at or after start; -1 if none before lfEnd
	lfEnd      int // how far LFs were looked for
	skipLF     bool
	begun      bool // the first line was returned
}

// next returns the next whole line without its end. The line is valid until
// the next call of space.
func (l *lines) next() ([]byte, bool) {
	if l.skipLF && l.start < l.end {
		l.skipLF = false
		if l.buf[l.start] == '\n' {
			l.start++
		}
	}
	l.scanned = max(l.scanned, l.start)
	l.findLF()
	stop := l.end
	if l.lf >= 0 {
		stop = l.lf
	}
	if i := bytes.IndexByte(l.buf[l.scanned:stop], '\r'); i >= 0 {
		stop = l.scanned + i
		l.skipLF = true
	} else if l.lf < 0 {
		l.scanned = l.end
		return nil, false
	}
	line := l.buf[l.start:stop]
	l.start = stop + 1
	return l.withoutBOM(line), true
}

// findLF keeps lf true. It looks at each byte once, so that a stream of bare
// CRs costs no more than another.
func (l *lines) findLF() {
	if l.lf >= l.start && l.lf < l.lfEnd {
		return
	}
	from := max(l.lfEnd, l.start)
	l.lf = -1
	if i := bytes.IndexByte(l.buf[from:l.end], '\n'); i >= 0 {
		l.lf = from + i
		l.lfEnd = l.lf + 1
		return
	}
	l.lfEnd = l.end
}

// withoutBOM drops the byte order mark that may begin the stream.
func (l *lines) withoutBOM(line []byte) []byte {
	if l.begun {
		return line
	}
	l.begun = true
	return bytes.TrimPrefix(line, []byte(byteOrderMark))
}

// rest returns what follows the last line end, and forgets it.
func (l *lines) rest() []byte {
	line := l.buf[l.start:l.end]
	l.start = l.end
	return l.withoutBOM(line)
}

// pending returns the bytes of the line that is not whole yet.
func (l *lines) pending() []byte { return l.buf[l.start:l.end] }

// space returns room to read into, never empty. It grows the buffer to hold a
// line of limit bytes and its end.
func (l *lines) space(limit int) []byte {
	used := l.end - l.start
	size := cap(l.buf)
	switch {
	case size == 0 || used == 0 && size > keptBuffer:
		size = smallBuffer
	case used == size:
		size = max(min(2*size, limit+len(byteOrderMark)+2), used+1)
	}
	if size != cap(l.buf) {
		grown := make([]byte, size)
		copy(grown, l.pending())
		l.buf = grown
	} else if l.start > 0 {
		copy(l.buf, l.pending())
	}
	l.scanned = max(l.scanned-l.start, 0)
	l.lfEnd = max(l.lfEnd-l.start, 0)
	l.lf = -1 // next found none, or there would be a line
	l.start, l.end = 0, used
	return l.buf[l.end:]
}

// add says that n bytes were read into the space.
func (l *lines) add(n int) { l.end += n }
