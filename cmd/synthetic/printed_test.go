package main

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/promslog"
)

var (
	codeBlock  = regexp.MustCompile("(?ms)^ *```([a-z]*)\n(.*?)^ *```")
	inlineCode = regexp.MustCompile("`([^`\n]+)`")
	// commandStart is the name of the program where it is called.
	commandStart = regexp.MustCompile(`(?:^|[ "'(])(?:\./)?(?:bin/)?synthetic ([a-z].*)`)
	// A template of an alert shows a label, a time in the layout in backticks, or a part that may be absent.
	templateLabel  = regexp.MustCompile(`\{\{ \$labels\.\w+ \}\}`)
	templateTime   = regexp.MustCompile("\\{\\{ [^}]*Format `([^`]+)` \\}\\}")
	templateAction = regexp.MustCompile(`\{\{[^}]*\}\}`)
	// lifecycle matches what a sidecar refuses without --web.enable-lifecycle.
	lifecycle = regexp.MustCompile(`synthetic (?:accept|incident)|POST [^ ]*/-/|-d .*/-/accept`)
)

// printedFiles returns the texts of files of this repository by name, tests and test data left out.
func printedFiles(t *testing.T, ext string, dirs ...string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, dir := range dirs {
		err := filepath.WalkDir(filepath.Join("../..", dir), func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.Name() == "testdata":
				return fs.SkipDir
			case entry.IsDir() || !strings.HasSuffix(path, ext) || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			text, err := os.ReadFile(path)
			texts[strings.TrimPrefix(path, "../../")] = string(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(texts) == 0 {
		t.Fatalf("no %s in %v", ext, dirs)
	}
	return texts
}

// TestPrintedCommands: the program accepts every command of its documentation, runbooks, pages,
// alerts and dashboards. Commands in blocks of code are complete. Others may leave flags out.
func TestPrintedCommands(t *testing.T) {
	complete, named := 0, 0
	for name, text := range printedFiles(t, ".md", "README.md", "CONTRIBUTING.md", "SECURITY.md", "docs", "deploy", "examples") {
		for _, block := range codeBlock.FindAllStringSubmatch(text, -1) {
			if block[1] == "text" {
				continue // the output of a command
			}
			for line := range strings.Lines(strings.ReplaceAll(block[2], "\\\n", " ")) {
				if m := commandStart.FindStringSubmatch(line); m != nil && !strings.Contains(line, "helm ") {
					complete++
					checkCommand(t, name, words(m[1]), true)
				}
			}
		}
		for _, span := range inlineCode.FindAllStringSubmatch(codeBlock.ReplaceAllString(text, ""), -1) {
			if m := commandStart.FindStringSubmatch(span[1]); m != nil && !strings.Contains(span[1], "helm ") {
				named++
				checkCommand(t, name, words(m[1]), false)
			}
		}
	}
	if complete < 40 || named < 50 {
		t.Errorf("found only %d commands in blocks and %d in the text", complete, named)
	}
}

// TestCommandsOfAlertsAndPages: the commands in alerts, dashboards and pages exist, with their flags.
func TestCommandsOfAlertsAndPages(t *testing.T) {
	found := 0
	for _, texts := range []map[string]string{
		printedFiles(t, "synthetic-rules.yml", "alerts"), printedFiles(t, ".json", "dashboards"),
		printedFiles(t, ".html", "internal/sidecar/status"), printedFiles(t, ".go", "internal/sidecar/status", "internal/alerting"),
	} {
		for name, text := range texts {
			for line := range strings.Lines(shownTemplate(text)) {
				if m := commandStart.FindStringSubmatch(line); m != nil {
					found++
					checkCommand(t, name, upToProse(words(m[1])), false)
				}
			}
		}
	}
	if found < 3 {
		t.Errorf("found only %d commands", found)
	}
}

// TestCommandsSayWhatMustBeOn: a line of an alert, a runbook or a page that names something for
// which the sidecar needs --web.enable-lifecycle says so.
func TestCommandsSayWhatMustBeOn(t *testing.T) {
	found := 0
	for _, texts := range []map[string]string{
		printedFiles(t, ".yml", "alerts"), printedFiles(t, ".json", "dashboards"),
		printedFiles(t, ".md", "docs/runbooks"), printedFiles(t, ".html", "internal/sidecar/status"),
	} {
		for name, text := range texts {
			for line := range strings.Lines(text) {
				if lifecycle.MatchString(line) {
					found++
					if !strings.Contains(line, "--web.enable-lifecycle") {
						t.Errorf("%s does not name --web.enable-lifecycle beside its command:\n%s", name, line)
					}
				}
			}
		}
	}
	if found < 3 {
		t.Errorf("found only %d lines", found)
	}
}

// shownTemplate replaces the actions of an alert's template by examples of their results.
func shownTemplate(text string) string {
	text = templateLabel.ReplaceAllString(text, "NAME")
	return templateAction.ReplaceAllString(templateTime.ReplaceAllString(text, "$1"), "")
}

// checkCommand parses a command line. A complete one has all required flags, another one may end
// with a flag without its value.
func checkCommand(t *testing.T, where string, args []string, complete bool) {
	t.Helper()
	app, _ := application(&promslog.Config{}, io.Discard, io.Discard)
	_, err := app.ParseContext(args)
	if complete && err == nil {
		_, err = app.Parse(args)
	}
	if err != nil && (complete || !strings.HasPrefix(err.Error(), "expected argument for flag")) {
		t.Errorf("%s: synthetic %s: %v", where, strings.Join(args, " "), err)
	}
}

// upToProse returns the leading words that are names of commands or flags with values.
func upToProse(args []string) []string {
	names := map[string]bool{}
	_, commands := application(&promslog.Config{}, io.Discard, io.Discard)
	for _, c := range commands {
		for _, name := range strings.Fields(c.clause.FullCommand()) {
			names[name] = true
		}
	}
	end := slices.IndexFunc(args, func(word string) bool { return !names[word] && !strings.HasPrefix(word, "--") })
	if end < 0 {
		return args
	}
	return args[:end]
}

// words splits a command line as a shell does, and ends where a comment, a pipe, a redirection or
// the next command begins.
func words(line string) []string {
	var out []string
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		if strings.ContainsRune("#|>&;", rune(line[0])) {
			break
		}
		word := shellWord.FindString(line)
		line = line[len(word):]
		out = append(out, placeholders.Replace(quotes.ReplaceAllString(word, "$1$2")))
		if word == "" || strings.HasPrefix(line, ";") {
			break
		}
	}
	return out
}

var (
	shellWord = regexp.MustCompile(`^(?:"[^"]*"|'[^']*'|[^ "';|]+)*`)
	quotes    = regexp.MustCompile(`"([^"]*)"|'([^']*)'`)
	// Placeholders of values that a flag checks.
	placeholders = strings.NewReplacer(":PORT", ":8000")
)
