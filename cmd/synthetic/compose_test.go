package main

import (
	"bytes"
	"context"
	"net"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/prometheus/common/promslog"
	promconfig "github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/discovery"
	"go.yaml.in/yaml/v3"
)

// composeProject reads deploy/compose as "docker compose" does, without a container engine. more
// are the files that follow compose.yaml.
func composeProject(t *testing.T, more ...string) *types.Project {
	t.Helper()
	const dir = "../../deploy/compose"
	details := types.ConfigDetails{WorkingDir: dir}
	for _, name := range append([]string{"compose.yaml"}, more...) {
		details.ConfigFiles = append(details.ConfigFiles, types.ConfigFile{Filename: filepath.Join(dir, name)})
	}
	p, err := loader.LoadWithContext(t.Context(), details)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// mounted returns the file of this repository that a service mounts at a path. volumes is
// the directory that replaces named volumes.
func mounted(t *testing.T, s types.ServiceConfig, volumes, inside string) string {
	t.Helper()
	for _, v := range s.Volumes {
		rest, ok := strings.CutPrefix(inside, v.Target)
		if !ok {
			continue
		}
		if v.Type == types.VolumeTypeVolume {
			return filepath.Join(volumes, v.Source, rest)
		}
		return filepath.Join(v.Source, rest)
	}
	t.Fatalf("%s mounts nothing at %s", s.Name, inside)
	return ""
}

// TestComposeMountsExist: all mounted files exist, and all images are pinned.
func TestComposeMountsExist(t *testing.T) {
	p := composeProject(t)
	for name, s := range p.Services {
		for _, v := range s.Volumes {
			if v.Type == types.VolumeTypeBind {
				if _, err := os.Stat(v.Source); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		if _, tag, ok := strings.Cut(path.Base(s.Image), ":"); !ok || tag == "latest" {
			t.Errorf("%s: the image %s is not pinned", name, s.Image)
		}
		for _, port := range s.Ports {
			if port.HostIP != "127.0.0.1" {
				t.Errorf("%s: port %s is open to everybody", name, port.Published)
			}
		}
	}
	goMod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	_, toolchain, _ := strings.Cut(string(goMod), "\ntoolchain go")
	toolchain, _, _ = strings.Cut(toolchain, "\n")
	if build := p.Services["synthetic"].Build.DockerfileInline; !strings.HasPrefix(build, "FROM golang:"+toolchain+" ") {
		t.Errorf("go.mod has Go %s, the image is built by\n%s", toolchain, build)
	}
}

// TestComposeCommands runs the commands of the synthetic containers and reads their files
// with Prometheus' own readers.
func TestComposeCommands(t *testing.T) {
	p, volumes := composeProject(t), t.TempDir()
	generate := p.Services["rules"]
	var args []string
	for _, arg := range generate.Command {
		for _, flag := range []string{"--config.file=", "--output.dir="} {
			if value, ok := strings.CutPrefix(arg, flag); ok {
				arg = flag + mounted(t, generate, volumes, value)
			}
		}
		args = append(args, arg)
	}
	var out bytes.Buffer
	if code := run(t.Context(), args, &out, &out); code != exitOK {
		t.Fatalf("%v: exit code %d: %s", args, code, &out)
	}

	prometheus := p.Services["prometheus"]
	cfg, err := promconfig.LoadFile(mounted(t, prometheus, volumes, "/etc/prometheus/prometheus.yml"), false, promslog.NewNopLogger())
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range cfg.RuleFiles {
		if _, err := os.Stat(mounted(t, prometheus, volumes, file)); err != nil {
			t.Errorf("the rules for Prometheus were not written: %v", err)
		}
	}

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	demo := []string(p.Services["synthetic"].Command)
	demo = append(demo, "--web.listen-address=127.0.0.1:0")
	demo = append(demo[:1:1], demo[2:]...) // without --web.listen-address: the port may be in use here
	if code := run(ended, demo, &out, &out); code != exitOK {
		t.Errorf("%v: exit code %d: %s", demo, code, &out)
	}
}

// TestComposeAddresses: each service has the addresses at which the others listen.
func TestComposeAddresses(t *testing.T) {
	p := composeProject(t)
	ports := map[string]string{"synthetic": "9877", "prometheus": "9090", "alertmanager": "9093", "receiver": "9099"}
	check := func(who, address string) {
		host, port, err := net.SplitHostPort(address)
		if _, ok := p.Services[host]; err != nil || !ok || ports[host] != port {
			t.Errorf("%s uses the address %s, where nothing listens (%v)", who, address, err)
		}
	}
	cfg, err := promconfig.LoadFile("../../deploy/compose/prometheus.yml", false, promslog.NewNopLogger())
	if err != nil {
		t.Fatal(err)
	}
	static := cfg.AlertingConfig.AlertmanagerConfigs[0].ServiceDiscoveryConfigs
	for _, s := range cfg.ScrapeConfigs {
		static = append(static, s.ServiceDiscoveryConfigs...)
	}
	for _, c := range static {
		for _, group := range c.(discovery.StaticConfig) {
			for _, target := range group.Targets {
				check("Prometheus", string(target["__address__"]))
			}
		}
	}
	var alertmanager struct {
		Receivers []struct {
			Webhooks []struct{ URL string } `yaml:"webhook_configs"`
		}
	}
	text, err := os.ReadFile(mounted(t, p.Services["alertmanager"], "", "/etc/alertmanager/alertmanager.yml"))
	if err != nil || yaml.Unmarshal(text, &alertmanager) != nil || len(alertmanager.Receivers) != 2 {
		t.Fatalf("alertmanager.yml has %+v (%v)", alertmanager, err)
	}
	for _, r := range alertmanager.Receivers {
		u, err := url.Parse(r.Webhooks[0].URL)
		if err != nil {
			t.Fatal(err)
		}
		check("Alertmanager", u.Host)
	}
	var sources struct {
		APIVersion  int `yaml:"apiVersion"`
		Datasources []struct {
			Name, Type, UID, URL, Access string
			IsDefault                    bool           `yaml:"isDefault"`
			JSONData                     map[string]any `yaml:"jsonData"`
		}
	}
	provisioned(t, "datasources/prometheus.yml", &sources)
	u, err := url.Parse(sources.Datasources[0].URL)
	if err != nil {
		t.Fatal(err)
	}
	check("Grafana", u.Host)

	var boards struct {
		APIVersion int `yaml:"apiVersion"`
		Providers  []struct {
			Name, Folder, Type string
			Options            struct{ Path string }
		}
	}
	provisioned(t, "dashboards/synthetic.yml", &boards)
	grafana := p.Services["grafana"]
	dir := mounted(t, grafana, "", boards.Providers[0].Options.Path)
	if files, err := filepath.Glob(filepath.Join(dir, "*.json")); err != nil || len(files) == 0 {
		t.Errorf("no dashboard is in %s (%v)", dir, err)
	}
	home := *grafana.Environment["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
	if _, err := os.Stat(mounted(t, grafana, "", home)); err != nil {
		t.Errorf("the home dashboard: %v", err)
	}
}

// TestComposeOnTheHost: with host.yaml every server shares the network of the machine, listens on
// 127.0.0.1 alone, and finds the others there.
func TestComposeOnTheHost(t *testing.T) {
	p := composeProject(t, "host.yaml")
	listen := map[string]string{
		"synthetic": "--web.listen-address=127.0.0.1:9877", "prometheus": "--web.listen-address=127.0.0.1:9090",
		"alertmanager": "--web.listen-address=127.0.0.1:9093 --cluster.listen-address=", "grafana": "",
	}
	for name, flags := range listen {
		s := p.Services[name]
		if s.NetworkMode != "host" || len(s.Ports) > 0 || !strings.HasSuffix(strings.Join(s.Command, " "), flags) {
			t.Errorf("%s: network %q, ports %v, command %v", name, s.NetworkMode, s.Ports, s.Command)
		}
		for _, other := range []string{"synthetic", "prometheus", "alertmanager", "receiver"} {
			if at := s.ExtraHosts[other]; !slices.Equal(at, []string{"127.0.0.1"}) {
				t.Errorf("%s finds %s at %v", name, other, at)
			}
		}
	}
	if at := p.Services["grafana"].Environment["GF_SERVER_HTTP_ADDR"]; at == nil || *at != "127.0.0.1" {
		t.Errorf("Grafana listens on %v", at)
	}
	var out bytes.Buffer
	if code := run(t.Context(), append([]string(p.Services["synthetic"].Command), "--help"), &out, &out); code != exitOK {
		t.Errorf("exit code %d: %s", code, &out)
	}
}

// provisioned reads a provisioning file like Grafana and rejects unknown keys.
func provisioned(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile("../../deploy/compose/grafana/" + name)
	if err != nil {
		t.Fatal(err)
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(into); err != nil {
		t.Errorf("%s: %v", name, err)
	}
}
