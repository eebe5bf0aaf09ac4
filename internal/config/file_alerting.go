package config

// The structs of this file are the section alerting; file.go says what the
// tags mean.

type fileAlerting struct {
	Alertmanagers  []fileAlertmanager `yaml:"alertmanagers" absent:"none: alerts are logged and shown on the page ~/alerts~" examples:"[{url: \"http://alertmanager:9093\"}]" doc:"The Alertmanagers to tell. Each is told everything, as they expect of a Prometheus when they are a cluster."`
	ExternalLabels map[string]string  `yaml:"external_labels" absent:"none" examples:"{cluster: eu-1}" doc:"Labels put on every alert that does not have them."`
	ExternalURL    webURL             `yaml:"external_url" absent:"alerts do not link back" examples:"https://synthetic.example.com" doc:"Address under which people reach this sidecar; alerts link to its page ~/alerts~."`
	RunbookURL     webURL             `yaml:"runbook_url" absent:"the path within the repository" examples:"https://git.example.com/synthetic/docs/runbooks" doc:"Address of the directory of runbooks, put into the alerts."`
	DashboardURL   webURL             `yaml:"dashboard_url" absent:"alerts do not link to dashboards" examples:"https://grafana.example.com/d" doc:"Address under which Grafana serves dashboards by UID, put into the alerts."`
	Interval       duration           `yaml:"interval" default:"15s" min:"1s" max:"1m" doc:"Time between two readings of the process's own metrics, and between two evaluations of most rules."`
	Retention      duration           `yaml:"retention" default:"24h" min:"2h" doc:"How long the readings are kept. Rules that look back further see only this much."`
	MaxSeries      int                `yaml:"max_series" default:"50000" min:"100" max:"10000000" doc:"Most series to store, which bounds the memory. Series over it are left out, which is logged and counted."`
	Directory      string             `yaml:"directory" absent:"a temporary one: readings and waiting alerts are lost at a restart" examples:"/var/lib/synthetic/pager" doc:"Directory for the readings and the state of alerts, relative to the configuration file. It is made if need be, and belongs to one process. With it a restart neither resolves nor repeats a page."`
}

type fileAlertmanager struct {
	URL             webURL        `yaml:"url" required:"true" examples:"http://alertmanager:9093" doc:"Address of the Alertmanager's page, with its prefix if it has one; ~/api/v2/alerts~ is appended."`
	Timeout         duration      `yaml:"timeout" default:"10s" min:"1ms" max:"5m" doc:"Longest wait for an answer."`
	BasicAuth       fileBasicAuth `yaml:"basic_auth" group:"auth" absent:"none" examples:"{username: pager, password_file: /etc/synthetic/password}" doc:"Basic authentication."`
	BearerTokenFile string        `yaml:"bearer_token_file" group:"auth" secret:"true" absent:"none" examples:"/etc/synthetic/token" doc:"File that holds the token of bearer authentication, read at each use."`
	TLS             fileTLS       `yaml:"tls" absent:"the system's certificate authorities" examples:"{ca_file: ca.pem}" doc:"TLS settings of an ~https~ address, with the keys of a target's."`
}

type fileBasicAuth struct {
	Username     string `yaml:"username" required:"true" examples:"pager" doc:"The user's name."`
	PasswordFile string `yaml:"password_file" required:"true" secret:"true" examples:"/etc/synthetic/password" doc:"File that holds the password, read at each use."`
}
