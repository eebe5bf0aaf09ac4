package node

import (
	"fmt"
	"os/exec"
	"strings"
	"sync"
)

// Address is the node's. It is on the loopback device, where the caller puts it.
const Address = "10.244.0.1"

// A network gives each pod a network namespace, with a virtual cable to the node and
// all routes through it, as the plain "ptp" plugin of CNI does. Addresses are never the
// same twice: a connection to a pod that is gone must not reach another one.
type network struct {
	mu   sync.Mutex
	last int
}

// add makes the network of a pod; the name is that of its namespace and of the node's
// end of the cable.
func (n *network) add() (name, address string, err error) {
	n.mu.Lock()
	n.last++
	i := n.last + 1 // the first is the node's
	n.mu.Unlock()
	name, address = fmt.Sprintf("pod%d", i), fmt.Sprintf("10.244.%d.%d", i>>8, i&0xff)
	if err := ip("", "netns add "+name); err != nil {
		return "", "", err
	}
	err = ip("", "link add "+name+" type veth peer name eth0 netns "+name,
		"link set "+name+" up",
		"route add "+address+" dev "+name+" src "+Address)
	if err != nil {
		return "", "", err
	}
	return name, address, ip(name, "link set lo up",
		"addr add "+address+"/32 dev eth0",
		"link set eth0 up",
		"route add "+Address+" dev eth0",
		"route add default via "+Address)
}

// remove takes the pod's network away, and with it the cable.
func (n *network) remove(name string) error { return ip("", "netns del "+name) }

// ip runs commands of iproute2 in one process.
func ip(namespace string, lines ...string) error {
	args := []string{"-batch", "-"}
	if namespace != "" {
		args = append([]string{"-n", namespace}, args...)
	}
	cmd := exec.Command("ip", args...)
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(lines, "; "), err, out)
	}
	return nil
}
