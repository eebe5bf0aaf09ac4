package kube

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// The network of the tests, which e2e/kube/run creates. Nothing else uses it, so ports and
// addresses can be fixed.
const (
	nodeName    = "node-0"
	nodeAddress = "10.244.0.1"
	apiAddress  = "https://" + nodeAddress + ":6443"
	podRange    = "10.244.0.0/16"
	services    = "10.96.0.0/16"
	apiService  = "10.96.0.1"
	domain      = "cluster.local"
)

// users are the users of Kubernetes' own components with their groups.
var users = map[string]string{ // name: groups
	"admin":                          "system:masters",
	"dns":                            "system:masters",
	"system:kube-controller-manager": "",
	"system:kube-scheduler":          "",
	"system:kube-proxy":              "",
	"system:node:" + nodeName:        "system:nodes",
}

// corefile resolves Services and pods for pods, on the node like node-local DNS does, and
// nothing outside the cluster.
const corefile = `.:53 {
	bind %s
	errors
	kubernetes %s {
		kubeconfig %s
		ttl 1
	}
}
`

// servers are the cluster's processes and their files.
type servers struct{ dir, logs, program string }

func startServers(t *testing.T) servers {
	t.Helper()
	// t.TempDir could not be removed before the mounts of the kubelet.
	dir, err := os.MkdirTemp("", "kube")
	if err != nil {
		t.Fatal(err)
	}
	s := servers{dir: dir, logs: mustEnv(t, "KUBE_LOGS"), program: mustEnv(t, "KUBE_SERVERS")}
	s.credentials(t)
	etcd := s.start(t, "etcd", "--data-dir="+s.file("etcd"), "--unsafe-no-fsync", "--log-level=warn")
	api := s.startAPI(t)
	client := s.client(t, "admin")
	await(t, patience, "the API server", func() error {
		_, err := client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(t.Context())
		return err
	}, etcd, api)
	s.start(t, "kube-controller-manager", "--kubeconfig="+s.kubeconfig(t, "system:kube-controller-manager"),
		"--use-service-account-credentials", "--leader-elect=false", "--root-ca-file="+s.file("ca.crt"),
		"--service-account-private-key-file="+s.file("accounts.key"), "--secure-port=0")
	s.start(t, "kube-scheduler", "--kubeconfig="+s.kubeconfig(t, "system:kube-scheduler"), "--leader-elect=false", "--secure-port=0")
	s.start(t, "kube-proxy", "--kubeconfig="+s.kubeconfig(t, "system:kube-proxy"), "--hostname-override="+nodeName,
		"--proxy-mode=nftables", "--cluster-cidr="+podRange, "--conntrack-max-per-core=0",
		"--conntrack-tcp-timeout-established=0", "--conntrack-tcp-timeout-close-wait=0")
	s.start(t, "kubelet", s.node(t))
	start(t, s.logs, "dns", mustEnv(t, "KUBE_DNS"), "-conf="+s.write(t, "Corefile", fmt.Appendf(nil, corefile, nodeAddress, domain, s.kubeconfig(t, "dns"))))
	return s
}

func (s servers) start(t *testing.T, name string, args ...string) *process {
	t.Helper()
	return start(t, s.logs, name, append([]string{s.program, name}, args...)...)
}

func (s servers) file(name string) string { return filepath.Join(s.dir, name) }

func (s servers) startAPI(t *testing.T) *process {
	t.Helper()
	return s.start(t, "kube-apiserver", "--etcd-servers=http://127.0.0.1:2379",
		"--advertise-address="+nodeAddress, "--secure-port=6443", "--service-cluster-ip-range="+services,
		"--tls-cert-file="+s.file("api.crt"), "--tls-private-key-file="+s.file("api.key"),
		"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
		"--token-auth-file="+s.file("tokens.csv"), "--allow-privileged=false",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-signing-key-file="+s.file("accounts.key"), "--service-account-key-file="+s.file("accounts.key"),
		"--service-account-lookup", "--profiling=false")
}

// credentials writes a certificate of the API server, a key for the tokens of service
// accounts, and a token for each of the users. The token is the user's name.
func (s servers) credentials(t *testing.T) {
	t.Helper()
	crt, key, err := cert.GenerateSelfSignedCertKey("kubernetes.default.svc."+domain,
		[]net.IP{net.ParseIP(nodeAddress), net.ParseIP(apiService)}, []string{"kubernetes.default.svc", "kubernetes"})
	if err != nil {
		t.Fatal(err)
	}
	chain, err := cert.ParseCertsPEM(crt)
	if err != nil {
		t.Fatal(err)
	}
	ca := pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: chain[len(chain)-1].Raw})
	accounts, err := keyutil.MakeEllipticPrivateKeyPEM()
	if err != nil {
		t.Fatal(err)
	}
	var tokens string
	for user, groups := range users {
		tokens += fmt.Sprintf("%s,%s,%s,%q\n", user, user, user, groups)
	}
	for name, text := range map[string][]byte{"api.crt": crt, "ca.crt": ca, "api.key": key, "accounts.key": accounts, "tokens.csv": []byte(tokens)} {
		s.write(t, name, text)
	}
}

func (s servers) write(t *testing.T, name string, text []byte) string {
	t.Helper()
	if err := os.WriteFile(s.file(name), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return s.file(name)
}

// kubeconfig writes the kubeconfig of a user.
func (s servers) kubeconfig(t *testing.T, user string) string {
	t.Helper()
	c := clientcmdapi.NewConfig()
	c.Clusters["e2e"] = &clientcmdapi.Cluster{Server: apiAddress, CertificateAuthority: s.file("ca.crt")}
	c.AuthInfos["e2e"] = &clientcmdapi.AuthInfo{Token: user}
	c.Contexts["e2e"] = &clientcmdapi.Context{Cluster: "e2e", AuthInfo: "e2e"}
	c.CurrentContext = "e2e"
	file := s.file(user + ".kubeconfig")
	if err := clientcmd.WriteToFile(*c, file); err != nil {
		t.Fatal(err)
	}
	return file
}

// node writes the configuration of the node. The image "synthetic" is the root of the
// release; curl and host have the files of this machine, for pods that do not belong to the
// product.
func (s servers) node(t *testing.T) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{
		"Name": nodeName, "Kubeconfig": s.kubeconfig(t, "system:node:"+nodeName), "Dir": s.file("kubelet"), "Logs": filepath.Join(s.logs, "pods"),
		"Container": mustEnv(t, "KUBE_CONTAINER"), "DNS": nodeAddress, "Domain": domain,
		"Images": map[string]string{"synthetic": mustEnv(t, "KUBE_IMAGE"), "curl": "/", "host": "/"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s.write(t, "node.json", text)
}
