package chart

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	core "k8s.io/api/core/v1"
)

// mountedConfig writes the ConfigMap into a new directory, as it is mounted in the pod,
// with a test key instead of the Secret, and returns the directory.
func mountedConfig(t *testing.T, objects []object) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{"keys/chat": "secret"}
	for name, text := range decodeAs[core.ConfigMap](t, configMap(t, objects)).Data {
		files[name] = strings.ReplaceAll(text, "/etc/synthetic/", dir+"/")
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// configMap returns the ConfigMap that holds synthetic.yml or plan.yml.
func configMap(t *testing.T, objects []object) object {
	t.Helper()
	for _, o := range objects {
		if o.Kind != "ConfigMap" {
			continue
		}
		if data := decodeAs[core.ConfigMap](t, o).Data; data["synthetic.yml"]+data["plan.yml"] != "" {
			return o
		}
	}
	t.Fatal("no ConfigMap holds synthetic.yml or plan.yml")
	return object{}
}

func TestRenderedConfigurationIsAccepted(t *testing.T) {
	t.Setenv("CANARY_KEY", "secret")
	eachValues(t, func(t *testing.T, values string, objects []object) {
		if strings.Contains(values, "existing") || strings.Contains(values, "secret") {
			t.Skip("its configuration is somebody else's")
		}
		args := []string{"check", "--no-keys", filepath.Join(mountedConfig(t, objects), "synthetic.yml")}
		if has(objects, "Job") {
			args = []string{"check", filepath.Join(mountedConfig(t, objects), "plan.yml")}
		}
		out, err := exec.CommandContext(t.Context(), tool(t, "SYNTHETIC"), args...).CombinedOutput()
		if err != nil {
			t.Errorf("synthetic %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	})
}

func TestFilesComeThroughUnchanged(t *testing.T) {
	text := "  # an indented comment\n\ntargets:\n  - base_url: http://a.example/v1   # and another\nworkloads:\n  - trace: {file: talk.jsonl}\n"
	talk := "{\"messages\": [{\"role\": \"user\", \"content\": \"tab\\t, quote \\\", {{ braces }}, ünïcödé <&>\"}]}\n\n"
	dir := t.TempDir()
	for name, text := range map[string]string{"synthetic.yml": text, "talk.jsonl": talk} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	data := decodeAs[core.ConfigMap](t, configMap(t, render(t,
		"--set-file=configFile="+dir+"/synthetic.yml", `--set-file=files.talk\.jsonl=`+dir+"/talk.jsonl"))).Data
	if data["synthetic.yml"] != text {
		t.Errorf("synthetic.yml = %q, want %q", data["synthetic.yml"], text)
	}
	if data["talk.jsonl"] != talk {
		t.Errorf("talk.jsonl = %q, want %q", data["talk.jsonl"], talk)
	}
}

func TestPodsRollWithTheConfigurationAlone(t *testing.T) {
	const key = "checksum/config"
	checksum := func(args ...string) string {
		args = append([]string{"--set=config.targets[0].base_url=http://a.example/v1"}, args...)
		return podsOf(t, render(t, args...)).Annotations[key]
	}
	base := checksum()
	if base == "" {
		t.Fatalf("the pods have no annotation %s", key)
	}
	tests := []struct {
		name, arg string
		same      bool
	}{
		{"configuration", "--set=config.targets[0].model=llama", false},
		{"file beside it", `--set=files.ca\.pem=x`, false},
		{"label", "--set=commonLabels.team=serving", true},
		{"replicas", "--set=replicaCount=2", true},
	}
	for _, test := range tests {
		if got := checksum(test.arg); (got == base) != test.same {
			t.Errorf("%s: checksum equal = %v, want %v", test.name, got == base, test.same)
		}
	}
	if got := checksum("--set=rollOnConfigChange=false"); got != "" {
		t.Errorf("checksum %q although rollOnConfigChange is false", got)
	}
}
