package config

// fileScenario is the shape of a scenario of the backtest; file.go explains
// the tags.
type fileScenario struct {
	Models []fileModel `yaml:"models" min:"1" absent:"the named models" examples:"[{name: busy, like: typical, daily: 0.4}]" doc:"Noise models."`
	Faults []fileFault `yaml:"faults" min:"1" absent:"the named faults" examples:"[{name: creep, kind: slow, size: 1.5, ramp: 1h, length: 4h}]" doc:"What is injected."`
}

// fileModel is a named model with some of its parameters changed.
type fileModel struct {
	Name                   string    `yaml:"name" required:"true" examples:"busy" doc:"Name in the tables: up to 63 letters, digits, ~-~, ~_~ and ~.~."`
	Like                   string    `yaml:"like" default:"quiet" doc:"The named model that gives every parameter that is not written."`
	ConversationsPerMinute *float64  `yaml:"conversations_per_minute" above:"0" max:"600" absent:"that of ~like~" examples:"12" doc:"Probe rate: conversations started per minute."`
	TurnsMin               *int      `yaml:"turns_min" min:"1" max:"100" absent:"that of ~like~" examples:"3" doc:"Fewest turns of a conversation."`
	TurnsMax               *int      `yaml:"turns_max" min:"1" max:"100" absent:"that of ~like~" examples:"5" doc:"Most turns of a conversation."`
	FirstTTFT              *duration `yaml:"first_ttft" min:"1ms" max:"1m" absent:"that of ~like~" examples:"250ms" doc:"Median TTFT of first turns."`
	FollowupTTFT           *duration `yaml:"followup_ttft" min:"1ms" max:"1m" absent:"that of ~like~" examples:"150ms" doc:"Median TTFT of later turns."`
	TPOT                   *duration `yaml:"tpot" min:"1ms" max:"1s" absent:"that of ~like~" examples:"20ms" doc:"Median time per output token."`
	Output                 *int      `yaml:"output_tokens" min:"2" max:"10000" absent:"that of ~like~" examples:"48" doc:"Output tokens of an answer."`
	FirstToken             *duration `yaml:"first_token_timeout" min:"1s" max:"2m" absent:"that of ~like~" examples:"30s" doc:"The prober's deadline for the first token."`
	Sigma                  *float64  `yaml:"sigma" min:"0" max:"3" absent:"that of ~like~" examples:"0.3" doc:"Standard deviation of the natural logarithm of single turns' TTFT."`
	PaceSigma              *float64  `yaml:"pace_sigma" min:"0" max:"3" absent:"that of ~like~" examples:"0.1" doc:"The same of TPOT."`
	LevelSD                *float64  `yaml:"level_sd" min:"0" max:"1" absent:"that of ~like~" examples:"0.054" doc:"Standard deviation of the 30-minute mean of the log level, which wanders."`
	LevelTime              *duration `yaml:"level_time" min:"1m" max:"7d" absent:"that of ~like~" examples:"1h" doc:"Time constant of the wandering."`
	Daily                  *float64  `yaml:"daily" min:"0" max:"3" absent:"that of ~like~" examples:"0.25" doc:"Amplitude of the daily season of the log level, highest at 14:00 UTC."`
	Weekly                 *float64  `yaml:"weekly" min:"0" max:"3" absent:"that of ~like~" examples:"0.03" doc:"Amplitude of the weekly season."`
	BurstsPerDay           *float64  `yaml:"bursts_per_day" min:"0" max:"1000" absent:"that of ~like~" examples:"4" doc:"How often the level rises for a moment."`
	BurstLength            *duration `yaml:"burst_length" min:"1s" max:"1d" absent:"that of ~like~" examples:"90s" doc:"How long on average."`
	BurstMin               *float64  `yaml:"burst_min" min:"0" max:"5" absent:"that of ~like~" examples:"0.2" doc:"Least rise of the log level."`
	BurstMax               *float64  `yaml:"burst_max" min:"0" max:"5" absent:"that of ~like~" examples:"0.55" doc:"Most."`
	Outliers               *float64  `yaml:"outliers" min:"0" max:"1" absent:"that of ~like~" examples:"0.003" doc:"Share of turns that take much longer."`
	OutlierMin             *float64  `yaml:"outlier_min" min:"1" max:"1000" absent:"that of ~like~" examples:"3" doc:"Least factor of them."`
	OutlierMax             *float64  `yaml:"outlier_max" min:"1" max:"1000" absent:"that of ~like~" examples:"10" doc:"Greatest factor."`
	Failures               *float64  `yaml:"failures" min:"0" max:"1" absent:"that of ~like~" examples:"0.0003" doc:"Share of turns that fail at random."`
	ShiftsPerMonth         *float64  `yaml:"shifts_per_month" min:"0" max:"1000" absent:"that of ~like~" examples:"4" doc:"Deployments per 30 days that move the level for good."`
	ShiftSD                *float64  `yaml:"shift_sd" min:"0" max:"3" absent:"that of ~like~" examples:"0.05" doc:"Standard deviation of such a move of the log level."`
}

type fileFault struct {
	Name   string     `yaml:"name" required:"true" examples:"creep" doc:"Name in the tables."`
	Kind   string     `yaml:"kind" required:"true" enum:"slow,slow_decode,outage,hang" doc:"~slow~ multiplies TTFT, ~slow_decode~ TPOT; ~outage~ refuses turns, ~hang~ never answers."`
	Size   float64    `yaml:"size" above:"1" max:"1000" absent:"required for ~slow~ and ~slow_decode~" examples:"1.5" doc:"The factor."`
	Share  share      `yaml:"share" absent:"all" examples:"15%" doc:"Share of the turns that are hit."`
	Ramp   duration   `yaml:"ramp" absent:"a step" examples:"1h" doc:"How long the factor rises before it is reached, in a straight line."`
	Length duration   `yaml:"length" required:"true" min:"1m" max:"30d" examples:"4h" doc:"How long the fault lasts."`
	Within duration   `yaml:"within" min:"1s" absent:"the length" examples:"40m" doc:"A page that comes later does not count as found."`
	At     []duration `yaml:"at" min:"1" absent:"random times" examples:"[2h, 1d6h]" doc:"Onsets, counted from the end of the warm-up."`
}
