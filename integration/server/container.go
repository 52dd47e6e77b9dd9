package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"time"

	docktypes "github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"

	"github.com/leasekit/lease/chaos/clock"
)

// Docker returns nil if there is a Docker daemon, or why none can be used.
func Docker() error { return docker() }

var docker = sync.OnceValue(func() (err error) {
	log.SetDefault(log.NewNoopLogger())
	defer func() {
		if p := recover(); p != nil { // its way to say that there is no daemon
			err = fmt.Errorf("%v", p)
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	provider, err := testcontainers.NewDockerProvider()
	if err != nil {
		return err
	}
	return provider.Health(ctx)
})

// image is what a container is made of.
type image struct {
	name string
	cmd  []string
	env  map[string]string
	port string // that the server listens on, as "6379/tcp"
	on   string // that it has on 127.0.0.1

	made *container
}

// container is a server in a container.
type container struct {
	*testcontainers.DockerContainer
	dir string // for its log
}

// launch makes a container, under the clock, or starts the one that it has made
// again.
func (i *image) launch(dir string, under *clock.Clock) (running, error) {
	ctx, cancel := context.WithTimeout(context.Background(), imagePatience)
	defer cancel()
	if i.made != nil {
		if err := i.made.Start(ctx); err != nil {
			return nil, fmt.Errorf("start the container again: %w", err)
		}
		return i.made, nil
	}
	port, err := network.ParsePort(i.port)
	if err != nil {
		return nil, err
	}
	env := map[string]string{}
	for name, value := range i.env {
		env[name] = value
	}
	var mounts []string
	if under != nil {
		for name, value := range under.Variables() {
			env[name] = value
		}
		// The same file at the same place: a change is seen inside at once.
		mounts = append(mounts, under.Dir()+":"+under.Dir()+":ro")
	}
	c, err := testcontainers.Run(ctx, i.name,
		testcontainers.WithCmd(i.cmd...),
		testcontainers.WithEnv(env),
		testcontainers.WithExposedPorts(i.port),
		testcontainers.WithHostConfigModifier(func(host *docktypes.HostConfig) {
			host.Binds = append(host.Binds, mounts...)
			host.PortBindings = network.PortMap{port: {{HostIP: netip.MustParseAddr("127.0.0.1"), HostPort: i.on}}}
		}))
	if err != nil {
		if c != nil {
			err = errors.Join(err, c.Terminate(ctx))
		}
		return nil, fmt.Errorf("start a container of %s: %w", i.name, err)
	}
	i.made = &container{DockerContainer: c, dir: dir}
	return i.made, nil
}

// imagePatience bounds how long an image may take to come from a registry.
const imagePatience = 5 * time.Minute

func (c *container) pid() (int, error) {
	state, err := c.state()
	if err != nil {
		return 0, err
	}
	return state.Pid, nil
}

func (c *container) ended() error {
	state, err := c.state()
	if err == nil && !state.Running {
		err = fmt.Errorf("the container ended with exit code %d", state.ExitCode)
	}
	return err
}

func (c *container) state() (*docktypes.State, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	state, err := c.State(ctx)
	if err != nil {
		return nil, fmt.Errorf("look at the container: %w", err)
	}
	return state, nil
}

// end stops and removes the container, and puts what it printed in its folder.
func (c *container) end() error {
	err := os.WriteFile(filepath.Join(c.dir, "container.log"), c.logged(), 0o600)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if ending := c.Terminate(ctx, testcontainers.StopTimeout(patience/2)); ending != nil {
		err = errors.Join(err, fmt.Errorf("end the container: %w", ending))
	}
	return err
}

func (c *container) crash() error {
	if c.ended() != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	docker, err := testcontainers.NewDockerClientWithOpts(ctx)
	if err != nil {
		return fmt.Errorf("kill the container: %w", err)
	}
	defer docker.Close()
	if _, err := docker.ContainerKill(ctx, c.GetContainerID(), client.ContainerKillOptions{Signal: "KILL"}); err != nil {
		return fmt.Errorf("kill the container: %w", err)
	}
	gone := docker.ContainerWait(ctx, c.GetContainerID(), client.ContainerWaitOptions{})
	select {
	case <-gone.Result:
		return nil
	case err := <-gone.Error:
		return fmt.Errorf("wait for the end of the container: %w", err)
	}
}

func (c *container) printed() string { return tail(c.logged()) }

func (c *container) logged() []byte {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	logs, err := c.Logs(ctx)
	if err != nil {
		return []byte(err.Error())
	}
	defer logs.Close()
	text, err := io.ReadAll(logs)
	if err != nil {
		text = append(text, err.Error()...)
	}
	return text
}
