package yamlform

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// menu is a form with every kind of value.
type menu struct {
	Name   string            `yaml:"name" required:"true" examples:"lunch"`
	Dishes []dish            `yaml:"dishes" min:"1" examples:"[{price: 3}]"`
	Days   Selection         `yaml:"days" default:"*" examples:"[monday]"`
	Wait   time.Duration     `yaml:"wait" default:"5m" min:"1s" max:"1h"`
	Filled Share             `yaml:"filled" examples:"80%"`
	Kind   string            `yaml:"kind" default:"hot" enum:"hot,cold"`
	Cash   bool              `yaml:"cash" group:"pay" default:"true"`
	Card   string            `yaml:"card" group:"pay" secret:"true" examples:"visa"`
	Notes  map[string]string `yaml:"notes" secret:"true" examples:"{a: b}"`
	Other  map[string]any    `yaml:"other" secret:"true" examples:"{a: 1}"`
	Tip    *float64          `yaml:"tip" above:"0" examples:"0.5"`
}

// dish takes its keys from json tags.
type dish struct {
	Price int    `json:"price" min:"0" max:"100"`
	Count uint64 `json:"count,omitempty" default:"1"`
}

const least = "write name: lunch"

func decode(t *testing.T, text string) (menu, *Form) {
	t.Helper()
	var m menu
	f, err := Decode("menu.yml", []byte(text), least, &m)
	if err != nil {
		t.Fatal(err)
	}
	return m, f
}

// TestMistakes finds all mistakes of a text at once, in the order of the text.
func TestMistakes(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"every kind": {`
dishes: [{price: -1}, {cost: 2}, 7]
days: [monday]
wait: 5
filled: 80
kind: warm
cash: false
card: [visa]
notes: {a: 1}
other: {a: .inf}
tip: 0
`, `2:1: name: is missing: write for example name: lunch
2:18: dishes[0].price: "-1" is below 0: write 0 or more
2:24: dishes[1].cost: unknown key: the keys here are price and count
2:34: dishes[2]: "7" is not a mapping: write keys and values; the keys are price and count
4:7: wait: "5" has no unit: write 5s for seconds or 5ms for milliseconds
5:9: filled: "80" is not between 0 and 1: write 80% or 0.8
6:7: kind: "warm" is not one of the allowed values: the values are hot and cold
8:7: card: is a list, not a single value: write for example card: visa
8:7: card: cannot be combined with cash: keep one of the two
9:12: notes.a: is not text: put it in quotes
10:12: other.a: is not a finite number: write a plain number, or text in quotes
11:6: tip: "0" is not above 0: write for example tip: 0.5`},
		"misspelt": {"name: x\nprice: 1", `2:1: price: unknown key: the keys here are name, dishes, days, wait, filled, kind, cash, card, notes, other and tip`},
		"twice":    {"name: x\nname: y", `2:1: has the key "name" twice: keep this one or that of line 1`},
		"merged":   {"<<: {name: x}", `1:1: merges a mapping with <<, which is not supported: write the keys out`},
	} {
		_, f := decode(t, tt.text)
		err := f.Err()
		if err == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		if diff := cmp.Diff(tt.want, strings.ReplaceAll(err.Error(), "menu.yml:", "")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestRedact(t *testing.T) {
	text := "name: x\nnotes: {b: hunter, a: hunter}\nother:\n  deep: [hunter, # why\n    hunter]\nkind: hot\n"
	m, f := decode(t, text)
	want := "name: x\nnotes: (hidden)\nother: (hidden)\nkind: hot\n"
	if got := f.Redact("(hidden)", "notes", "other"); got != want {
		t.Errorf("got\n%s", got)
	}
	if diff := cmp.Diff([]string{"b", "a"}, f.Keys("notes", m.Notes)); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

func TestTexts(t *testing.T) {
	d := NewDocument[menu]("Menu", "# Menu\n", "What keys mean.\n\n## menu\n\n- tip: What: one\n  pays.\n  Absent: none\n- name: N.\n\n## dish\n\n- price: P.\n", nil)
	want := map[string]string{"menu.tip": "What: one pays. Absent: none", "menu.name": "N.", "dish.price": "P."}
	if diff := cmp.Diff(want, d.Texts); diff != "" {
		t.Errorf("texts (-want +got):\n%s", diff)
	}
	for _, want := range []string{
		"# Menu\n\n## Top level\n", "- **`tip`** (number; none): What: one pays. Example: `0.5`\n", "\n## `dishes[]`\n",
		"- **`kind`** (one of `hot`, `cold`; `hot`): \n", "- **`price`** (integer; ): P. From 0 to 100.\n",
	} {
		if !strings.Contains(string(d.Reference()), want) {
			t.Errorf("the reference lacks %q:\n%s", want, d.Reference())
		}
	}
}

// TestKeysAreSaidOnce checks that the second of two mappings with one type refers to the first.
func TestKeysAreSaidOnce(t *testing.T) {
	type meals struct {
		Lunch  dish `yaml:"lunch"`
		Supper dish `yaml:"supper"`
	}
	got := string(NewDocument[meals]("", "", "", nil).Reference())
	if !strings.HasSuffix(got, "\n## `supper`\n\nThe keys of `lunch`.\n") || strings.Count(got, "`price`") != 1 {
		t.Error(got)
	}
}
