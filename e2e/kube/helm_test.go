package kube

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// chart is the directory of the chart.
const chart = "../../deploy/helm/synthetic"

// helm runs the Helm binary against the cluster.
func (c *cluster) helm(t *testing.T, namespace string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), mustEnv(t, "HELM"), append(args,
		"--kubeconfig="+c.kubeconfig(t, "admin"), "--namespace="+namespace)...)
	home := t.TempDir()
	cmd.Env = append(cmd.Environ(), "HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("helm %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// install installs or upgrades a release of the chart and waits until it is ready.
func (c *cluster) install(t *testing.T, namespace, release, values string, flags ...string) {
	t.Helper()
	args := []string{"upgrade", "--install", release, chart, "--values=" + writeTemp(t, values), "--wait", "--timeout=" + patience.String()}
	c.helm(t, namespace, append(args, flags...)...)
}

// render returns the objects that the chart would install in this cluster.
func (c *cluster) render(t *testing.T, namespace, release string, flags ...string) string {
	t.Helper()
	return c.helm(t, namespace, append([]string{"template", release, chart, "--validate"}, flags...)...)
}

func writeTemp(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
