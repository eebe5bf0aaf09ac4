package node

import (
	"fmt"
	"os/exec"
	"strings"
	"sync"
)

// Address is the address of the node. The caller adds it to the loopback device.
const Address = "10.244.0.1"

// network gives each pod a network namespace with a veth pair to the node and all routes
// through it, like the CNI plugin "ptp". Addresses are never reused, so that no connection
// to a removed pod reaches another one.
type network struct {
	mu   sync.Mutex
	last int
}

// add creates the network of a pod. name is the name of the network namespace and of the
// node's end of the veth pair.
func (n *network) add() (name, address string, err error) {
	n.mu.Lock()
	n.last++
	i := n.last + 1 // the first address is the node's
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

// remove removes the pod's network and the veth pair.
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
