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

// Limits on a page of metrics. Unknown families are read, but not kept.
const (
	// maxPage bounds the bytes of a page.
	maxPage = 4 << 20
	// maxLine bounds the bytes of a line. Longer lines are skipped.
	maxLine = 64 << 10
	// maxKept bounds the bytes of known families.
	maxKept = 1 << 20
	// maxSeries bounds the lines of one family. A part of a family would give wrong figures.
	maxSeries = 4096
	// leaveOut is the remedy for a page that exceeds a limit.
	leaveOut = "configure the server to export less, or remove the page from server_metrics"
)

var (
	errNoPage    = errors.New("the answer is not in the Prometheus text format; check the address")
	errLargePage = fmt.Errorf("the page is larger than %d MiB; %s", maxPage>>20, leaveOut)
	errMuchKept  = fmt.Errorf("the known families take more than %d MiB; %s", maxKept>>20, leaveOut)
)

// excerpt holds the lines of known families, by family.
type excerpt map[string]*lines

type lines struct {
	text  bytes.Buffer
	count int
}

// readExcerpt reads a page line by line, until ctx ends, and keeps the lines of known families. It skips
// other lines than series, but not before the first one.
func readExcerpt(ctx context.Context, page io.Reader) (excerpt, error) {
	e, kept, known := excerpt{}, 0, familyOfSeries()
	started := false
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
		name, ok := seriesName(line)
		if started = started || name != nil; !ok && !started {
			return nil, errNoPage
		}
		family, ok := known[string(name)]
		if ok {
			if kept += e.add(family, line); kept > maxKept {
				return nil, errMuchKept
			}
		}
		if err == io.EOF {
			return e, nil
		}
	}
}

// nextLine returns the next line, which is valid until the next call. A line that is too long is returned empty.
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

// add adds a line and returns by how much the text grows. A family with too many series loses its text.
func (e excerpt) add(family string, line []byte) (grown int) {
	l := e[family]
	if l == nil {
		l = &lines{}
		e[family] = l
	}
	before := l.text.Len()
	if l.count++; l.count > maxSeries {
		l.text = bytes.Buffer{}
		return -before
	}
	l.text.Write(line)
	if !bytes.HasSuffix(line, []byte("\n")) {
		l.text.WriteByte('\n')
	}
	return l.text.Len() - before
}

// family parses the lines of one family; nil if there are none. The error repeats no text of the server.
func (e excerpt) family(name string) (*dto.MetricFamily, error) {
	l := e[name]
	if l == nil {
		return nil, nil
	}
	if l.count > maxSeries {
		return nil, fmt.Errorf("more than %d series; %s", maxSeries, leaveOut)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	found, err := parser.TextToMetricFamilies(&l.text)
	if err != nil {
		return nil, errors.New("not in the Prometheus text format")
	}
	return found[name], nil
}

// familyOfSeries maps the series names of known families, including those of histograms, to the family.
func familyOfSeries() map[string]string {
	known := map[string]string{}
	for _, f := range families() {
		for _, suffix := range []string{"", "_bucket", "_sum", "_count"} {
			known[f.name+suffix] = f.name
		}
	}
	return known
}

// seriesName returns the metric name of a series or TYPE line, and "" for other comments. ok is
// false for a line that is not in the text format.
func seriesName(line []byte) (name []byte, ok bool) {
	line = bytes.TrimSpace(line)
	typed, isType := bytes.CutPrefix(line, []byte("# TYPE "))
	switch {
	case isType:
		line = bytes.TrimLeft(typed, " \t")
	case len(line) == 0 || line[0] == '#' || line[0] == '{': // known names are not quoted
		return nil, true
	}
	end := bytes.IndexAny(line, "{ \t")
	if end < 0 || !model.LegacyValidation.IsValidMetricName(string(line[:end])) {
		return nil, false
	}
	return line[:end], true
}
