// Package kube runs etcd, kube-apiserver and, where wanted, a
// kube-controller-manager with the few controllers that the suite needs, all
// on 127.0.0.1.
package kube

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"weirgate/conformance/internal/proc"
)

const host = "127.0.0.1"

// serviceRange holds the cluster IPs. Nothing answers there.
const serviceRange = "127.240.0.0/16"

// Cluster is a running control plane.
type Cluster struct {
	Kubeconfig string
	Config     *rest.Config
	CertFile   string
	KeyFile    string
	program    string
	data       string // logs, etcd's files and keys
	processes  []*proc.Process
}

// Start runs a new, empty etcd and API server. Their files go to dir, the API
// server listens on the given port, 0 being any free one. program is cmd/kube.
func Start(ctx context.Context, program, dir string, port int) (*Cluster, error) {
	data := filepath.Join(dir, "kube")
	if err := os.RemoveAll(data); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, err
	}
	c := &Cluster{
		Kubeconfig: filepath.Join(dir, "kubeconfig"),
		CertFile:   filepath.Join(data, "server.crt"),
		KeyFile:    filepath.Join(data, "server.key"),
		program:    program,
		data:       data,
	}
	if err := c.start(ctx, port); err != nil {
		c.Stop()
		return nil, fmt.Errorf("%w (logs: %s)", err, data)
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context, port int) error {
	if err := writeCertificate(c.CertFile, c.KeyFile); err != nil {
		return err
	}
	ports, err := freePorts(3)
	if err != nil {
		return err
	}
	if port == 0 {
		port = ports[2]
	}
	token, err := c.writeKubeconfig(port)
	if err != nil {
		return err
	}
	tokens := filepath.Join(c.data, "tokens.csv")
	if err := os.WriteFile(tokens, []byte(token+",admin,admin,system:masters\n"), 0o600); err != nil {
		return err
	}
	etcd := fmt.Sprintf("http://%s:%d", host, ports[0])
	peer := fmt.Sprintf("http://%s:%d", host, ports[1])

	if err := c.run("etcd",
		"--data-dir="+filepath.Join(c.data, "etcd"),
		"--listen-client-urls="+etcd, "--advertise-client-urls="+etcd,
		"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer,
		"--initial-cluster=default="+peer,
		"--unsafe-no-fsync", "--log-level=warn",
	); err != nil {
		return err
	}
	if err := c.run("apiserver",
		"--etcd-servers="+etcd,
		"--bind-address="+host, fmt.Sprint("--secure-port=", port),
		"--advertise-address="+host, "--endpoint-reconciler-type=none",
		"--service-cluster-ip-range="+serviceRange,
		"--tls-cert-file="+c.CertFile, "--tls-private-key-file="+c.KeyFile,
		"--token-auth-file="+tokens, "--authorization-mode=AlwaysAllow",
		"--service-account-issuer=https://"+host,
		"--service-account-key-file="+c.KeyFile, "--service-account-signing-key-file="+c.KeyFile,
		"--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
		"--enable-priority-and-fairness=false",
		"--kubelet-preferred-address-types=InternalIP",
		"--allow-privileged", "--profiling=false",
	); err != nil {
		return err
	}
	return c.wait(ctx, "/readyz")
}

// StartControllers runs the controllers that objects need to come to life:
// without them a Deployment has no pods and a Service no EndpointSlices.
func (c *Cluster) StartControllers() error {
	return c.run("manager",
		"--kubeconfig="+c.Kubeconfig,
		"--controllers=deployment-controller,replicaset-controller,endpointslice-controller,"+
			"namespace-controller,garbage-collector-controller",
		"--leader-elect=false", "--secure-port=0",
		"--concurrent-deployment-syncs=10", "--concurrent-namespace-syncs=20",
		"--kube-api-qps=500", "--kube-api-burst=1000", "--profiling=false",
	)
}

// run starts a part of the control plane; its log is named after it.
func (c *Cluster) run(part string, flags ...string) error {
	cmd := exec.Command(c.program, append([]string{part}, flags...)...)
	p, err := proc.Start(part, cmd, filepath.Join(c.data, part+".log"))
	if err == nil {
		c.processes = append(c.processes, p)
	}
	return err
}

// Stop ends the control plane, last started first.
func (c *Cluster) Stop() {
	for i := len(c.processes) - 1; i >= 0; i-- {
		c.processes[i].Stop(5 * time.Second)
	}
}

// Ended names a part that is no longer running, or is empty.
func (c *Cluster) Ended() string {
	for _, p := range c.processes {
		if ended, _ := p.Ended(); ended {
			return p.Name
		}
	}
	return ""
}

func (c *Cluster) wait(ctx context.Context, path string) error {
	client, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		err := client.Discovery().RESTClient().Get().AbsPath(path).Do(ctx).Error()
		if err == nil {
			return nil
		}
		if part := c.Ended(); part != "" {
			return fmt.Errorf("%s ended at once", part)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("API server not ready: %w", err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (c *Cluster) writeKubeconfig(port int) (token string, err error) {
	random := make([]byte, 16)
	if _, err := rand.Read(random); err != nil {
		return "", err
	}
	token = hex.EncodeToString(random)
	authority, err := os.ReadFile(c.CertFile)
	if err != nil {
		return "", err
	}
	const name = "conformance"
	config := api.NewConfig()
	config.Clusters[name] = &api.Cluster{
		Server:                   fmt.Sprintf("https://%s:%d", host, port),
		CertificateAuthorityData: authority,
	}
	config.AuthInfos[name] = &api.AuthInfo{Token: token}
	config.Contexts[name] = &api.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	if err := clientcmd.WriteToFile(*config, c.Kubeconfig); err != nil {
		return "", err
	}
	c.Config, err = Load(c.Kubeconfig)
	return token, err
}

// Load reads a kubeconfig file and lifts the client's own rate limit.
func Load(kubeconfig string) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = 500, 1000
	return config, nil
}

// Settled waits until no namespace of an earlier run is on its way out.
func Settled(ctx context.Context, config *rest.Config, wait time.Duration) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	return poll(ctx, wait, func() (bool, error) {
		list, err := client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		for _, namespace := range list.Items {
			if namespace.DeletionTimestamp != nil {
				return false, nil
			}
		}
		return true, nil
	})
}

func freePorts(count int) ([]int, error) {
	var ports []int
	for range count {
		listener, err := net.Listen("tcp", host+":0")
		if err != nil {
			return nil, err
		}
		defer listener.Close()
		ports = append(ports, listener.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
