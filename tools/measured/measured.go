// Package measured writes tables of measurements into pages of the documentation.
package measured

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Here returns a sentence for a page with today's date, what ran, the machine and its load. load is from Load.
func Here(runs, load string) string {
	var model string
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		_, rest, _ := strings.Cut(string(info), "model name\t: ")
		model, _, _ = strings.Cut(rest, "\n")
	}
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	if average, err := strconv.ParseFloat(load, 64); err == nil && average > 0.5 {
		load += ", of a build or other programs before it"
	}
	return fmt.Sprintf("%s: %s, on %d cores of %s, Linux %s, %s. Load average before the first run: %s.\n",
		time.Now().UTC().Format("2 January 2006"), runs, runtime.NumCPU(), model, strings.TrimSpace(string(kernel)), runtime.Version(), load)
}

// Load returns the load average of the last minute, as Linux writes it.
func Load() string {
	text, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(text), " ")
	return first
}

// Range returns the median, the least and the greatest of values, of which there is at least one.
func Range(values []float64) (median, least, greatest float64) {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2, sorted[0], sorted[n-1]
}

// Quantile interpolates a quantile of sorted values, as numpy does; NaN without values.
func Quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	whole, part := math.Modf(q * float64(len(sorted)-1))
	low, high := sorted[int(whole)], sorted[min(int(whole)+1, len(sorted)-1)]
	return low*(1-part) + high*part
}

// Marks returns the lines of a page between which the table of a tool is.
func Marks(tool string) (begin, end string) {
	return "<!-- " + tool + ": begin -->\n", "<!-- " + tool + ": end -->\n"
}

// Replace writes text between the marks of a tool in a file.
func Replace(file, tool, text string) error {
	page, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	fresh, err := Replaced(string(page), tool, text)
	if err != nil {
		return fmt.Errorf("%s %w", file, err)
	}
	return os.WriteFile(file, []byte(fresh), 0o644)
}

// Replaced returns a page with text between the marks of a tool.
func Replaced(page, tool, text string) (string, error) {
	begin, end := Marks(tool)
	head, rest, found := strings.Cut(page, begin)
	_, tail, closed := strings.Cut(rest, end)
	if !found || !closed {
		return "", fmt.Errorf("has no lines %q and %q between which to write", strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return head + begin + text + end + tail, nil
}

// Table renders a Markdown table. The first row is the header, and all columns are aligned
// by align: "---" or "---:".
func Table(align string, rows ...[]string) string {
	var b strings.Builder
	for i, row := range rows {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i == 0 {
			b.WriteString(strings.Repeat("|"+align, len(row)) + "|\n")
		}
	}
	return b.String()
}
