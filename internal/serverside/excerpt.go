package serverside

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Limits on a page of metrics. Unknown families cost no more than their reading.
const (
	// maxPage bounds the size of a page, in bytes.
	maxPage = 4 << 20
	// maxLine bounds a line; longer lines are skipped.
	maxLine = 64 << 10
	// maxKept bounds the bytes of known families.
	maxKept = 1 << 20
	// maxSeries bounds the lines of one family. A part of a family would give wrong figures.
	maxSeries = 4096
)

var (
	errNoPage    = errors.New("it is no page of metrics: see that the address is that of one")
	errLargePage = fmt.Errorf("it is larger than %d MiB, which is all that is read of a page of metrics: have the server export less, or leave it out of server_metrics", maxPage>>20)
	errMuchKept  = fmt.Errorf("the families that are looked for take more than %d MiB: have the server export fewer series of them, or leave it out of server_metrics", maxKept>>20)
)

// excerpt holds the lines of known families, by family.
type excerpt map[string]*lines

type lines struct {
	text  bytes.Buffer
	count int
}

// excerptOf reads a page line by line, until ctx ends, and keeps the lines of known families.
func excerptOf(ctx context.Context, page io.Reader) (excerpt, error) {
	e, kept, known := excerpt{}, 0, knownNames()
	limited := &io.LimitedReader{R: page, N: maxPage + 1}
	r := bufio.NewReaderSize(limited, maxLine)
	for {
		line, err := nextLine(r)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case limited.N == 0:
			return nil, errLargePage
		case err != nil && err != io.EOF:
			return nil, err
		}
		name, ok := nameOf(line)
		if !ok {
			return nil, errNoPage
		}
		if name, ok := known[string(name)]; ok {
			if kept += len(line); kept > maxKept {
				return nil, errMuchKept
			}
			if full := e.keep(name, line); full != nil {
				return nil, full
			}
		}
		if err == io.EOF {
			return e, nil
		}
	}
}

// nextLine returns the next line with its end, valid until the next call. A line that is too
// long is returned empty.
func nextLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = r.ReadSlice('\n')
	}
	return nil, err
}

// keep adds a line of a family.
func (e excerpt) keep(name string, line []byte) error {
	l := e[name]
	if l == nil {
		l = &lines{}
		e[name] = l
	}
	if l.count++; l.count > maxSeries {
		return fmt.Errorf("%q has more than %d series: have the server export fewer, or leave it out of server_metrics", name, maxSeries)
	}
	l.text.Write(line)
	if len(line) > 0 && line[len(line)-1] != '\n' {
		l.text.WriteByte('\n')
	}
	return nil
}

// family parses the lines of one family; nil if there are none.
func (e excerpt) family(name string) (*dto.MetricFamily, error) {
	l := e[name]
	if l == nil {
		return nil, nil
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	found, err := parser.TextToMetricFamilies(&l.text)
	if err != nil {
		return nil, fmt.Errorf("the metrics of %q cannot be parsed", name) // err would repeat the server's text
	}
	return found[name], nil
}

// knownNames returns the names of known families and of their histograms' series, with their
// family.
func knownNames() map[string]string {
	known := map[string]string{}
	for _, f := range families() {
		known[f.name] = f.name
		for _, part := range []string{"_bucket", "_sum", "_count"} {
			known[f.name+part] = f.name
		}
	}
	return known
}

// nameOf returns the metric name of a series line or a TYPE line. The name is empty for other
// comments; ok is false for a line that no page of metrics has.
func nameOf(line []byte) (name []byte, ok bool) {
	line = bytes.TrimSpace(line)
	typed, isType := bytes.CutPrefix(line, []byte("# TYPE "))
	switch {
	case isType:
		line = bytes.TrimLeft(typed, " \t")
	case len(line) == 0 || line[0] == '#' || line[0] == '{': // no known name is in quotes
		return nil, true
	}
	end := bytes.IndexAny(line, "{ \t")
	if end < 0 {
		return nil, false
	}
	return line[:end], model.LegacyValidation.IsValidMetricName(string(line[:end]))
}
