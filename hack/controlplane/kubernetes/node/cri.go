//go:build !before_1_36

package main

import (
	"context"
	"time"

	internalapi "k8s.io/cri-api/pkg/apis"
	remote "k8s.io/cri-client/pkg"
)

// connect returns clients for the runtime that serves an endpoint.
func connect(ctx context.Context, endpoint string, timeout time.Duration) (internalapi.RuntimeService, internalapi.ImageManagerService, error) {
	runtime, err := remote.NewRemoteRuntimeService(ctx, endpoint, timeout, nil, false)
	if err != nil {
		return nil, nil, err
	}
	images, err := remote.NewRemoteImageService(ctx, endpoint, timeout, nil, false)
	return runtime, images, err
}
