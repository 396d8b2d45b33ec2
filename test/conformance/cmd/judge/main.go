// Command judge runs the official Gateway API conformance suite against a
// load balancer on this machine: it brings the Kubernetes API, the backends
// and the suite, and starts the load balancer. It also asks the API alone what
// it says to objects. See README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/gateway-api/pkg/features"

	"weirgate/conformance/internal/admission"
	"weirgate/conformance/internal/build"
	"weirgate/conformance/internal/kube"
	"weirgate/conformance/internal/node"
	"weirgate/conformance/internal/proc"
	"weirgate/conformance/internal/verdict"
)

const usage = `usage: judge [run|up|test|admission|build] [flags] [-- flags of the suite]
  run    start a cluster and the product, run the suite, stop all (default)
  up     start a cluster, and the product if given, until interrupted
  test   run the suite against the cluster of a running 'judge up'
  admission
         send each object of a file to an API server and write down the answers
  build  only compile
flags:
`

type options struct {
	root, build, out      string
	product, kubeconfig   string
	class, controller     string
	port                  int
	wait, patience        time.Duration
	profiles, features    string
	all                   bool
	only, skip, report    string
	usable, unusable      string
	organization, version string
	cases, answers        string
	definitions, rules    string
	suite                 []string
	parallel              int
}

func parse(args []string) (string, options) {
	mode := "run"
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		mode, args = args[0], args[1:]
	}
	o := options{root: os.Getenv("CONFORMANCE_ROOT")}
	cache := os.Getenv("CONFORMANCE_CACHE")
	f := flag.NewFlagSet("judge", flag.ExitOnError)
	f.Usage = func() {
		fmt.Fprint(os.Stderr, usage)
		f.PrintDefaults()
	}
	f.StringVar(&o.build, "build", filepath.Join(cache, "build"), "folder of the compiled programs")
	f.StringVar(&o.out, "out", filepath.Join(cache, "out"), "folder for logs, kubeconfig and results")
	f.StringVar(&o.product, "product", "", "shell command that runs the product; {{kubeconfig}}, {{class}}, {{controller}} and {{build}} are filled in")
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "test: the cluster to use (default OUT/kubeconfig)")
	f.StringVar(&o.class, "gateway-class", "weirgate", "GatewayClass, made by the judge unless the product does")
	f.StringVar(&o.controller, "controller", "weirgate.dev/gateway-controller", "the GatewayClass's controllerName")
	f.IntVar(&o.port, "port", 0, "port of the API server (0: any)")
	f.DurationVar(&o.wait, "product-wait", 30*time.Second, "how long the product may take to accept the GatewayClass")
	f.DurationVar(&o.patience, "patience", 20*time.Second, "longest wait of the suite for one thing (0: the official timeouts)")
	f.StringVar(&o.profiles, "profiles", "", "conformance profiles, such as GATEWAY-HTTP,GATEWAY-GRPC,GATEWAY-TLS")
	f.StringVar(&o.features, "supported-features", "", "features to test (default: those in the GatewayClass's status)")
	f.BoolVar(&o.all, "all-features", false, "test every feature but those of a service mesh")
	f.StringVar(&o.only, "run-test", "", "comma-separated names or regular expressions of the only tests to run")
	f.StringVar(&o.skip, "skip-tests", "", "comma-separated names of tests to skip")
	f.StringVar(&o.report, "report-output", "", "file for the suite's report")
	f.StringVar(&o.usable, "usable-address", "", "an address that a Gateway can have")
	f.StringVar(&o.unusable, "unusable-address", "", "an address that no Gateway can have")
	f.StringVar(&o.organization, "organization", "weirgate", "for the report: organization and project")
	f.StringVar(&o.version, "version", "dev", "for the report: the product's version")
	f.IntVar(&o.parallel, "parallel", 4, "how many of the tests that allow it run at a time")
	f.StringVar(&o.cases, "cases", "", "admission: objects to ask about, a line of JSON each with name and text")
	f.StringVar(&o.answers, "answers", "", "admission: file for the answers")
	f.StringVar(&o.rules, "rules", "", "admission: file for the rules of the definitions")
	f.StringVar(&o.definitions, "gateway-api", "", "admission: version of the definitions, such as v1.7.0 (default: that of go.mod)")
	_ = f.Parse(args)
	o.suite = f.Args()
	return mode, o
}

// suiteFlags are the suite's own flags.
func (o *options) suiteFlags() []string {
	flags := []string{
		"-gateway-class=" + o.class,
		fmt.Sprint("-test.parallel=", o.parallel),
		"-organization=" + o.organization, "-project=" + o.organization, "-version=" + o.version,
		"-url=https://localhost", "-contact=none",
	}
	for name, value := range map[string]string{
		"conformance-profiles": o.profiles,
		"supported-features":   o.features,
		"only":                 strings.ReplaceAll(o.only, ",", "|"),
		"skip-tests":           o.skip,
		"usable-address":       o.usable,
		"unusable-address":     o.unusable,
	} {
		if value != "" {
			flags = append(flags, "-"+name+"="+value)
		}
	}
	if o.report != "" {
		if path, err := filepath.Abs(o.report); err == nil {
			flags = append(flags, "-report-output="+path)
		}
	}
	if o.all {
		var mesh []string
		for feature := range features.SetsToNamesSet(features.MeshCoreFeatures, features.MeshExtendedFeatures) {
			mesh = append(mesh, string(feature))
		}
		flags = append(flags, "-all-features", "-exempt-features="+strings.Join(mesh, ","))
	}
	if patience := verdict.Patience(o.patience); patience != "" {
		flags = append(flags, patience)
	}
	return append(flags, o.suite...)
}

func main() {
	log.SetFlags(log.Ltime)
	mode, o := parse(os.Args[1:])
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	failed, err := judge(ctx, mode, &o)
	if err != nil {
		log.Print(err)
	}
	if err != nil || failed > 0 {
		os.Exit(1)
	}
}

func judge(ctx context.Context, mode string, o *options) (failed int, err error) {
	for _, folder := range []*string{&o.root, &o.build, &o.out} {
		if *folder, err = filepath.Abs(*folder); err != nil {
			return 0, err
		}
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return 0, err
	}
	if mode == "admission" {
		return 0, admit(ctx, o)
	}
	if err := build.All(o.root, o.build); err != nil {
		return 0, err
	}
	switch mode {
	case "build":
		return 0, nil
	case "test":
		if o.kubeconfig == "" {
			o.kubeconfig = filepath.Join(o.out, "kubeconfig")
		}
		return suite(ctx, o)
	case "run", "up":
	default:
		return 0, fmt.Errorf("no such mode: %s", mode)
	}

	began := time.Now()
	cluster, err := kube.Start(ctx, filepath.Join(o.build, "kube"), o.out, o.port)
	if err != nil {
		return 0, err
	}
	defer cluster.Stop()
	if err := cluster.StartControllers(); err != nil {
		return 0, err
	}
	api, err := gatewayAPI(ctx, cluster, o)
	if err != nil {
		return 0, err
	}
	if err := kube.CreateGatewayClass(ctx, api, o.class, o.controller); err != nil {
		return 0, err
	}
	pods, err := node.Start(cluster.Config, filepath.Join(o.out, "pods"), cluster.CertFile, cluster.KeyFile, map[string]string{
		"echo-basic": filepath.Join(o.build, "echo-basic"),
		"coredns":    filepath.Join(o.build, "whoamidns"),
	})
	if err != nil {
		return 0, err
	}
	defer pods.Stop()
	log.Printf("cluster up in %.1f s: export KUBECONFIG=%s", time.Since(began).Seconds(), cluster.Kubeconfig)

	product, err := startProduct(cluster, o)
	if err != nil {
		return 0, err
	}
	defer product.Stop(10 * time.Second)
	if mode == "up" {
		log.Print("interrupt to stop")
		<-ctx.Done()
		return 0, nil
	}
	o.kubeconfig = cluster.Kubeconfig
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if product != nil {
		go func() {
			<-product.Done
			cancel(fmt.Errorf("the product ended: %v (see product.log)", product.Err))
		}()
	}
	failed, err = suite(ctx, o)
	if part := cluster.Ended(); part != "" {
		err = errors.Join(err, fmt.Errorf("%s ended during the run", part))
	}
	return failed, err
}

// admit asks an API server that has nothing but the definitions. The verdicts
// stay the same whoever runs it and whenever.
func admit(ctx context.Context, o *options) error {
	if o.cases == "" || o.answers == "" {
		return errors.New("admission needs --cases and --answers")
	}
	if err := build.Kube(o.root, o.build); err != nil {
		return err
	}
	cluster, err := kube.Start(ctx, filepath.Join(o.build, "kube"), o.out, o.port)
	if err != nil {
		return err
	}
	defer cluster.Stop()
	api, err := gatewayAPI(ctx, cluster, o)
	if err != nil {
		return err
	}
	if o.rules != "" {
		if err := admission.WriteRules(ctx, api, o.rules); err != nil {
			return err
		}
	}
	began := time.Now()
	count, err := admission.JudgeFiles(ctx, cluster.Config, o.cases, o.answers)
	log.Printf("%d objects in %.1f s", count, time.Since(began).Seconds())
	return err
}

const gatewayModule = "sigs.k8s.io/gateway-api"

// gatewayAPI installs the definitions of the experimental channel, which holds
// all of the standard one.
func gatewayAPI(ctx context.Context, cluster *kube.Cluster, o *options) (client.Client, error) {
	files, err := gatewayFiles(o)
	if err != nil {
		return nil, err
	}
	folder, err := fs.Sub(files, "config/crd/experimental")
	if err != nil {
		return nil, err
	}
	api, err := kube.Client(cluster.Config)
	if err != nil {
		return nil, err
	}
	return api, kube.InstallCRDs(ctx, api, folder)
}

func gatewayFiles(o *options) (fs.FS, error) {
	if o.definitions != "" {
		return build.Files(o.root, gatewayModule, o.definitions)
	}
	module, err := build.ModuleDir(o.root, gatewayModule)
	return os.DirFS(module), err
}

func startProduct(cluster *kube.Cluster, o *options) (*proc.Process, error) {
	if o.product == "" {
		return nil, nil
	}
	line := strings.NewReplacer(
		"{{kubeconfig}}", cluster.Kubeconfig,
		"{{class}}", o.class,
		"{{controller}}", o.controller,
		"{{build}}", o.build,
	).Replace(o.product)
	cmd := exec.Command("sh", "-c", line)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+cluster.Kubeconfig)
	log.Print("product: ", line)
	return proc.Start("product", cmd, filepath.Join(o.out, "product.log"))
}

func suite(ctx context.Context, o *options) (failed int, err error) {
	config, err := kube.Load(o.kubeconfig)
	if err != nil {
		return 0, err
	}
	api, err := kube.Client(config)
	if err != nil {
		return 0, err
	}
	if err := kube.Settled(ctx, config, time.Minute); err != nil {
		return 0, err
	}
	err = kube.GatewayClassAccepted(ctx, api, o.class, o.wait)
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	if err != nil {
		log.Print(err, "; running the suite all the same")
	}
	began := time.Now()
	results, err := verdict.Run(ctx, filepath.Join(o.build, "suite.test"), o.kubeconfig, o.out, o.suiteFlags(), os.Stdout)
	log.Printf("suite took %.0f s; logs and results.jsonl: %s", time.Since(began).Seconds(), o.out)
	return verdict.Print(os.Stdout, results), err
}
