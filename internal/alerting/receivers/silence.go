package receivers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/alertmanager/pkg/labels"
	"github.com/prometheus/alertmanager/silence"
	"github.com/prometheus/alertmanager/silence/silencepb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// matcher and apiSilence are the forms of Alertmanager's API, so that amtool works.
type matcher struct {
	Name    string `json:"name"`
	Value   string `json:"value"`
	IsRegex bool   `json:"isRegex"`
	IsEqual *bool  `json:"isEqual,omitempty"` // nil means true
}

type apiSilence struct {
	ID        string            `json:"id,omitempty"`
	Matchers  []matcher         `json:"matchers"`
	StartsAt  time.Time         `json:"startsAt"`
	EndsAt    time.Time         `json:"endsAt"`
	CreatedBy string            `json:"createdBy"`
	Comment   string            `json:"comment"`
	UpdatedAt time.Time         `json:"updatedAt,omitzero"`
	Status    map[string]string `json:"status,omitempty"`
}

// types are the kinds of matchers by isEqual and isRegex.
var types = map[[2]bool]silencepb.Matcher_Type{
	{true, false}: silencepb.Matcher_EQUAL, {false, false}: silencepb.Matcher_NOT_EQUAL,
	{true, true}: silencepb.Matcher_REGEXP, {false, true}: silencepb.Matcher_NOT_REGEXP,
}

// maxRequest bounds the body of a request for a silence.
const maxRequest = 64 << 10

// AddSilence adds or replaces a silence: POST /api/v2/silences of Alertmanager.
func (r *Receivers) AddSilence(w http.ResponseWriter, req *http.Request) {
	var in apiSilence
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxRequest))
	if err == nil {
		err = json.Unmarshal(body, &in)
	}
	if err != nil {
		http.Error(w, `this is not a silence; send for example {"matchers": [{"name": "target", "value": "chat"}], "endsAt": "2026-12-01T14:30:00Z", "createdBy": "me", "comment": "maintenance"}`, http.StatusBadRequest)
		return
	}
	s := &silencepb.Silence{Id: in.ID, EndsAt: timestamppb.New(in.EndsAt), CreatedBy: in.CreatedBy, Comment: in.Comment}
	if !in.StartsAt.IsZero() {
		s.StartsAt = timestamppb.New(in.StartsAt)
	}
	set := &silencepb.MatcherSet{}
	for _, m := range in.Matchers {
		set.Matchers = append(set.Matchers, &silencepb.Matcher{Type: types[[2]bool{m.IsEqual == nil || *m.IsEqual, m.IsRegex}], Name: m.Name, Pattern: m.Value})
	}
	s.MatcherSets = []*silencepb.MatcherSet{set}
	switch {
	case in.Comment == "":
		err = errors.New("comment is missing; the pages show it")
	case in.EndsAt.Before(time.Now()):
		err = errors.New("endsAt is missing or over")
	default:
		err = r.changeSilences(func(ctx context.Context) error { return r.silences.Set(ctx, s) })
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.options.Logger.Info("A silence mutes alerts", "alerts", matchersOf(s), "until", in.EndsAt, "comment", in.Comment, "by", in.CreatedBy)
	answer(w, map[string]string{"silenceID": s.Id})
}

// EndSilence ends the silence of the path value id: DELETE /api/v2/silence/{id} of Alertmanager.
func (r *Receivers) EndSilence(w http.ResponseWriter, req *http.Request) {
	id := req.PathValue("id")
	err := r.changeSilences(func(ctx context.Context) error { return r.silences.Expire(ctx, id) })
	if err != nil {
		http.Error(w, err.Error()+"; /api/v2/silences lists the silences", http.StatusNotFound)
		return
	}
	r.options.Logger.Info("A silence was ended", "silence", id)
}

// ListSilences lists the silences that have not ended: GET /api/v2/silences of Alertmanager.
func (r *Receivers) ListSilences(w http.ResponseWriter, req *http.Request) {
	all, _, err := r.silences.Query(req.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	out := []apiSilence{}
	for _, s := range all {
		state := string(silence.CurrentState(s.StartsAt.AsTime(), s.EndsAt.AsTime()))
		one := apiSilence{
			ID: s.Id, StartsAt: s.StartsAt.AsTime(), EndsAt: s.EndsAt.AsTime(), UpdatedAt: s.UpdatedAt.AsTime(),
			CreatedBy: s.CreatedBy, Comment: s.Comment, Status: map[string]string{"state": state},
		}
		for _, m := range s.MatcherSets[0].Matchers {
			for kind, t := range types {
				if t == m.Type {
					one.Matchers = append(one.Matchers, matcher{m.Name, m.Pattern, kind[1], &kind[0]})
				}
			}
		}
		out = append(out, one)
	}
	slices.SortFunc(out, func(a, b apiSilence) int { return a.EndsAt.Compare(b.EndsAt) })
	answer(w, out)
}

// changeSilences changes silences and saves them.
func (r *Receivers) changeSilences(change func(context.Context) error) error {
	if err := change(context.Background()); err != nil {
		return err
	}
	if err := r.files.save(silencesFile, r.silences); err != nil {
		return fmt.Errorf("the change holds, but a restart will forget it: %w", err)
	}
	return nil
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// matchersOf shows the matchers of a silence, such as `target="chat"`.
func matchersOf(s *silencepb.Silence) string {
	var out []string
	for _, set := range s.MatcherSets {
		for _, m := range set.Matchers {
			out = append(out, (&labels.Matcher{Type: matchTypes[m.Type], Name: m.Name, Value: m.Pattern}).String())
		}
	}
	return strings.Join(out, ", ")
}

var matchTypes = map[silencepb.Matcher_Type]labels.MatchType{
	silencepb.Matcher_EQUAL: labels.MatchEqual, silencepb.Matcher_NOT_EQUAL: labels.MatchNotEqual,
	silencepb.Matcher_REGEXP: labels.MatchRegexp, silencepb.Matcher_NOT_REGEXP: labels.MatchNotRegexp,
}
