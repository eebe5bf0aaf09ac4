package config

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"synthetic/internal/config/yamlform"
)

// FuzzParse checks that no text makes Parse panic, that every mistake has a place and a reason in one line,
// and that every accepted text has targets and jobs, has no NaN, and gives equal results twice.
func FuzzParse(f *testing.F) {
	addFiles(f, "testdata/bad/*.yml", "testdata/good/*.yml", "../../examples/*.yml")
	for _, text := range []string{
		"targets: [{base_url: \"http://[::1]:1/v1\"}]\ntraffic: [{arrival: {rate: 1e308}}]\n",
		"targets: &a [{base_url: *a}]\n",
		"targets: [{base_url: http://a, extra_body: {a: -0.0, b: 9223372036854775808, c: 1e400, d: .nan}}]\n",
		"targets: [{base_url: http://a}]\nworkloads: [{cancel: 100%, temperature: .inf, think_time: {min: 1s, max: 106751d}}]\n",
		"targets: [{base_url: http://a}]\nslos: [{sli: ttft, threshold: 1s, objective: 1e-400%, window: 99999999999y}]\n",
		"targets: [{base_url: http://a}]\nchanges: [{weekly: sunday 24:00 6d}]\n",
		"targets: [{base_url: http://a}]\nalerting: {alertmanagers: [{url: \"http://a\"}], external_labels: {a: \"\\xff\"}}\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		cfg, err := Parse("fuzz.yml", data, "testdata/good")
		if err != nil {
			if cfg != nil {
				t.Errorf("refused and accepted: %v", cfg)
			}
			checkProblems(t, err, data)
			return
		}
		if len(cfg.Targets) == 0 || len(cfg.Jobs) == 0 {
			t.Errorf("accepted without targets or jobs: %+v", cfg)
		}
		checkNumbers(t, "config", reflect.ValueOf(cfg))
		if again, err := Parse("fuzz.yml", data, "testdata/good"); err != nil || !reflect.DeepEqual(cfg, again) {
			t.Errorf("read as\n%+v\nand again as\n%+v: %v", cfg, again, err)
		}
	})
}

// FuzzLoadPlan is FuzzParse for plans.
func FuzzLoadPlan(f *testing.F) {
	addFiles(f, "testdata/badplan/*.yml", "testdata/goodplan/*.yml", "../../plans/*.yml")
	f.Add([]byte("variants: [{base_url: http://a}]\nlevels: {rate: [1e-320, 1e308]}\nmeasure: {snapshots: 1000, snapshot: 292y}\n"))
	f.Add([]byte("variants: [{base_url: http://a}]\nlevels: {concurrency: [1, 1000000]}\nwarm_up: {duration: 106751d}\n"))
	path := filepath.Join(f.TempDir(), "plan.yml")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := LoadPlan(path, testPresets())
		if err != nil {
			checkProblems(t, err, data)
			return
		}
		if len(p.Variants) == 0 || len(p.Levels) == 0 {
			t.Errorf("accepted without variants or levels: %+v", p)
		}
		checkNumbers(t, "plan", reflect.ValueOf(p))
		if again, err := LoadPlan(path, testPresets()); err != nil || !reflect.DeepEqual(p, again) {
			t.Errorf("read as\n%+v\nand again as\n%+v: %v", p, again, err)
		}
	})
}

func addFiles(f *testing.F, patterns ...string) {
	f.Helper()
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatalf("%d files of %s: %v", len(files), pattern, err)
		}
		for _, path := range files {
			data, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
}

func checkProblems(t *testing.T, err error, data []byte) {
	t.Helper()
	problems, ok := errors.AsType[yamlform.Errors](err)
	if !ok || len(problems) == 0 || len(problems) > 250 {
		t.Fatalf("got %T with %d problems", err, len(problems))
	}
	for _, p := range problems {
		if p.Message == "" || (p.Line < 1) != (len(data) > 4<<20) {
			t.Errorf("incomplete: %+v", p)
		}
		if strings.ContainsAny(p.Error(), "\n\r") {
			t.Errorf("more than one line: %q", p.Error())
		}
	}
}

// checkNumbers checks that a value contains no NaN, no infinity and no negative duration.
func checkNumbers(t *testing.T, at string, v reflect.Value) {
	t.Helper()
	if d, ok := v.Interface().(time.Duration); ok && d < 0 {
		t.Errorf("%s is %v", at, d)
	}
	switch v.Kind() {
	case reflect.Float64:
		if math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0) {
			t.Errorf("%s is %v", at, v.Float())
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			checkNumbers(t, at, v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				checkNumbers(t, at+"."+v.Type().Field(i).Name, v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			checkNumbers(t, at, v.Index(i))
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			checkNumbers(t, at, v.MapIndex(k))
		}
	}
}
