package io.mortise.redis.lettuce;

import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.Delay;
import io.mortise.annotation.Beta;
import io.mortise.redis.transport.ConnectionOutage;
import io.mortise.redis.transport.Endpoint;
import io.mortise.redis.transport.RedisTransport;
import io.mortise.redis.transport.TransportFactory;
import io.mortise.redis.transport.TransportListener;
import io.mortise.redis.transport.TransportProvider;
import io.mortise.spi.time.Ticker;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Serves store URLs with {@code wire=lettuce}. */
@Beta
@SuppressWarnings("exports") // Exported to io.mortise.redis only.
public final class LettuceTransportProvider implements TransportProvider {
  /** For {@link java.util.ServiceLoader}. */
  public LettuceTransportProvider() {}

  @Override
  public String wire() {
    return "lettuce";
  }

  @Override
  public TransportFactory to(Endpoint endpoint) {
    ClientResources resources =
        DefaultClientResources.builder()
            .ioThreadPoolSize(2)
            .computationThreadPoolSize(2)
            .reconnectDelay(
                Delay.fullJitter(
                    Duration.ofMillis(5), Duration.ofSeconds(1), 20, TimeUnit.MILLISECONDS))
            .build();
    return new OwnClients(resources, endpoint);
  }

  /** A client for each connection; they share threads. */
  private record OwnClients(ClientResources resources, Endpoint endpoint)
      implements TransportFactory {
    @Override
    public RedisTransport connect(TransportListener listener) {
      return LettuceTransport.connect(
          resources, endpoint, new ConnectionOutage(Ticker.SYSTEM), listener);
    }

    @Override
    public void close() {
      var unused = resources.shutdown(0, 2, TimeUnit.SECONDS).awaitUninterruptibly(4_000);
    }
  }
}
