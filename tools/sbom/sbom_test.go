package sbom

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The binary and its bill of materials, from "make sbom".
const (
	binaryVariable = "BINARY"
	sbomVariable   = "SBOM"
)

func file(t *testing.T, variable string) string {
	t.Helper()
	name := os.Getenv(variable)
	if name == "" {
		t.Skipf("%s names no file: run \"make sbom\"", variable)
	}
	return name
}

// schema compiles the schema of CycloneDX from the module that contains it.
func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go").Output()
	if err != nil {
		t.Fatalf("looking for the schema: %v", err)
	}
	c := jsonschema.NewCompiler()
	for _, name := range []string{"spdx.schema.json", "jsf-0.82.schema.json", "bom-1.6.schema.json"} {
		// The file name of this schema in the module has a wrong x.
		path := filepath.Join(strings.TrimSpace(string(dir)), "schema", strings.Replace(name, "jsf-0.82.schema", "jsf-0.82.schemax", 1))
		addSchema(t, c, "http://cyclonedx.org/schema/"+name, path)
	}
	s, err := c.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func addSchema(t *testing.T, c *jsonschema.Compiler, url, path string) {
	t.Helper()
	if err := c.AddResource(url, decode(t, path)); err != nil {
		t.Fatal(err)
	}
}

func decode(t *testing.T, path string) any {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	doc, err := jsonschema.UnmarshalJSON(f)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return doc
}

func TestSchema(t *testing.T) {
	if err := schema(t).Validate(decode(t, file(t, sbomVariable))); err != nil {
		t.Error(err)
	}
}

// The bill names the binary and all modules that the linker put into it, with versions and
// licences.
func TestNamesWhatIsLinked(t *testing.T) {
	bom := read(t, file(t, sbomVariable))
	binary := file(t, binaryVariable)
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"std@" + strings.Fields(info.GoVersion)[0]}
	for _, m := range info.Deps {
		want = append(want, m.Path+"@"+m.Version)
	}
	got := components(t, bom)
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("modules (-linked +named):\n%s", diff)
	}
	if sum := sha256Of(t, binary); !hasProperty(bom, "cdx:gomod:binary:hash:SHA-256", sum) {
		t.Errorf("the bill does not name the binary with the SHA-256 %s", sum)
	}
}

func read(t *testing.T, name string) *cyclonedx.BOM {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	bom := new(cyclonedx.BOM)
	if err := cyclonedx.NewBOMDecoder(f, cyclonedx.BOMFileFormatJSON).Decode(bom); err != nil {
		t.Fatal(err)
	}
	return bom
}

func components(t *testing.T, bom *cyclonedx.BOM) []string {
	t.Helper()
	var names []string
	for _, c := range *bom.Components {
		names = append(names, c.Name+"@"+c.Version)
		// The licence of go-metrics, MIT without its title, is not recognised; THIRD_PARTY_NOTICES has it.
		named := c.Name == "std" || c.Name == "github.com/hashicorp/go-metrics"
		if !named && (c.Evidence == nil || c.Evidence.Licenses == nil) {
			t.Errorf("%s has no licence", c.Name)
		}
	}
	return names
}

func hasProperty(bom *cyclonedx.BOM, name, value string) bool {
	return slices.ContainsFunc(*bom.Metadata.Properties, func(p cyclonedx.Property) bool {
		return p.Name == name && p.Value == value
	})
}

func sha256Of(t *testing.T, name string) string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(h.Sum(nil))
}
