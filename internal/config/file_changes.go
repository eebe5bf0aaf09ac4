package config

// The structs of this file are the section changes; file.go says what the tags
// mean.

type fileChange struct {
	Targets selection  `yaml:"targets" default:"*" examples:"[chat]" doc:"The targets that it concerns."`
	Start   moment     `yaml:"start" absent:"required without ~weekly~" examples:"2026-12-01T10:00:00Z" doc:"Beginning of the window, as in RFC 3339, with ~Z~ for UTC or an offset such as ~+01:00~."`
	End     moment     `yaml:"end" absent:"required without ~weekly~" examples:"2026-12-01T11:30:00Z" doc:"End of the window, at most 31 days after ~start~. A window that has passed may stay in the file."`
	Relearn bool       `yaml:"relearn" default:"false" doc:"The level is meant to be another one afterwards: at ~end~ what was learned before is forgotten, and the usual level is learned anew, which takes a day. Not for ~weekly~."`
	Weekly  fileWeekly `yaml:"weekly" absent:"the window is not repeated" examples:"{day: sunday, start: \"02:00\", length: 2h}" doc:"A window that comes back every week, in place of ~start~ and ~end~."`
}

type fileWeekly struct {
	Day    string   `yaml:"day" required:"true" enum:"monday,tuesday,wednesday,thursday,friday,saturday,sunday" doc:"Day on which it begins, in UTC."`
	Start  daytime  `yaml:"start" required:"true" examples:"\"02:00\"" doc:"Time at which it begins, in UTC: summer time does not move it."`
	Length duration `yaml:"length" required:"true" min:"1m" max:"6d" examples:"2h" doc:"How long it lasts."`
}
