package trace

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// maxLine bounds the size of one record.
const maxLine = 4 << 20

// Options say how a file is read.
type Options struct {
	// BlockTokens is the number of tokens of one block in hash_ids. 0 means 512.
	BlockTokens int `yaml:"block_tokens" min:"1" max:"65536" examples:"512"`
	// Skip accepts any number of records that cannot be used.
	Skip bool `yaml:"skip" default:"false"`
}

// Reader returns the records of a trace in the order of the file.
type Reader struct {
	name    string
	opts    Options
	close   func()
	source  source
	count   int // records so far
	leftOut LeftOut
}

// source returns a record of a file. Its errors name the position.
type source func() (Record, error)

func Open(path string, o Options) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r, err := newReader(path, f, o)
	if err != nil {
		_ = f.Close() // nothing was written to it
		return nil, err
	}
	closePlain := r.close
	r.close = func() {
		closePlain()
		_ = f.Close()
	}
	return r, nil
}

// newReader reads a trace in any format, plain, gzip or zstd. Errors contain the name, the
// position, the problem and the remedy.
func newReader(name string, from io.Reader, o Options) (*Reader, error) {
	plain, closePlain, err := Decompress(from)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	next, err := newSource(plain, o)
	if err != nil {
		closePlain()
		return nil, fmt.Errorf("%s, %w", name, err)
	}
	return &Reader{name: name, opts: o, close: closePlain, source: next}, nil
}

// newSource reads plain text in the format of its first bytes.
func newSource(plain io.Reader, o Options) (source, error) {
	b := bufio.NewReaderSize(plain, 64<<10)
	if bom, _ := b.Peek(3); string(bom) == "\ufeff" {
		_, _ = b.Discard(3) // they were read
	}
	head, _ := b.Peek(64 << 10) // the next read returns the error again
	head = bytes.TrimSpace(head)
	switch {
	case len(head) > 0 && head[0] == '[':
		return readArray(b, o), nil
	case len(head) == 0 || head[0] == '{':
		return readLines(b, o), nil
	}
	t, err := newTable(b)
	if err != nil {
		return nil, err
	}
	return t.read, nil
}

// Close closes the file.
func (r *Reader) Close() { r.close() }

// Next returns the next record, or io.EOF. It leaves out records that cannot be used.
func (r *Reader) Next() (Record, error) {
	rec, err := r.source()
	for r.leftOut.adds(err) {
		rec, err = r.source()
	}
	switch end := errors.Is(err, io.EOF); {
	case end && r.count == 0 && r.leftOut.first != nil:
		return Record{}, fmt.Errorf("%s, no record can be used: %w", r.name, r.leftOut.first)
	case end && r.count == 0:
		return Record{}, fmt.Errorf("%s: the file has no records; docs/how-to/traces.md lists the supported formats", r.name)
	case end:
		return Record{}, io.EOF
	case err != nil:
		return Record{}, fmt.Errorf("%s, %w", r.name, err)
	}
	r.count++
	return rec, nil
}

// readLines reads JSON Lines.
func readLines(r io.Reader, o Options) source {
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, maxLine)
	number := 0
	return func() (Record, error) {
		for scanner.Scan() {
			number++
			if line := bytes.TrimSpace(bytes.TrimPrefix(scanner.Bytes(), []byte("\ufeff"))); len(line) > 0 {
				return parse(line, o, "line", number)
			}
		}
		switch err := scanner.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			return Record{}, fmt.Errorf("line %d: %w", number+1, errTooLong)
		case err != nil:
			return Record{}, fmt.Errorf("line %d: reading it: %w; copy the complete file", number+1, err)
		}
		return Record{}, io.EOF
	}
}

var errTooLong = fmt.Errorf("the record is longer than %d MiB; leave it out", maxLine>>20)

// readArray reads one JSON array of objects.
func readArray(r io.Reader, o Options) source {
	limited := &recordLimit{from: r}
	decoder := json.NewDecoder(limited)
	number := 0
	return func() (Record, error) {
		limited.readBytes = 0
		number++
		element, err := nextElement(decoder, number == 1)
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		switch {
		case err != nil:
			return Record{}, fmt.Errorf("element %d: %w; copy the complete file", number, err)
		case element == nil:
			return Record{}, io.EOF
		}
		return parse(element, o, "element", number)
	}
}

// nextElement returns nil after the last element.
func nextElement(decoder *json.Decoder, isFirst bool) (element json.RawMessage, err error) {
	if isFirst {
		if _, err := decoder.Token(); err != nil { // the opening bracket
			return nil, err
		}
	}
	if !decoder.More() {
		_, err := decoder.Token() // the closing bracket
		return nil, err
	}
	err = decoder.Decode(&element)
	return element, err
}

// recordLimit returns an error if one record is too long.
type recordLimit struct {
	from      io.Reader
	readBytes int // since the start of the record
}

func (m *recordLimit) Read(p []byte) (int, error) {
	if m.readBytes > maxLine {
		return 0, errTooLong
	}
	n, err := m.from.Read(p)
	m.readBytes += n
	return n, err
}
