package io.mortise.redis.lettuce;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SslOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.event.connection.ReconnectFailedEvent;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.DefaultEndpoint;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.pubsub.api.async.RedisPubSubAsyncCommands;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.NettyCustomizer;
import io.mortise.redis.transport.ConnectionOutage;
import io.mortise.redis.transport.Endpoint;
import io.mortise.redis.transport.ErrorReplyException;
import io.mortise.redis.transport.RedisReplies;
import io.mortise.redis.transport.RedisTransport;
import io.mortise.redis.transport.Resubscriber;
import io.mortise.redis.transport.TransportListener;
import io.mortise.support.internal.server.SocketKeepAlive;
import io.mortise.support.internal.server.TrustedCertificates;
import io.netty.channel.Channel;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.util.concurrent.EventExecutor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.SocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import javax.net.ssl.KeyManager;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;

/**
 * A transport made of Lettuce. Its own thread is the event loop of the channel: Lettuce writes at
 * once from there, but queues commands of other threads, so mixing the two would reorder commands.
 * A client that was handed in does not reveal its channel; then one other thread sends all
 * commands, which keeps the order just as well.
 */
final class LettuceTransport implements RedisTransport {
  private static final Logger log = LoggerFactory.getLogger(LettuceTransport.class);

  private static final String LOST = "Lettuce has lost it";

  private final StatefulRedisPubSubConnection<String, String> connection;
  private final RedisPubSubAsyncCommands<String, String> commands;
  private final @Nullable RedisClient ownClient;
  private final ChannelHolder channel;
  private final EventExecutor fallback;
  private final RedisConnectionStateListener teller;
  private final Disposable failures;
  private final ConnectionOutage outage;

  /** Held while the outage changes: Lettuce tells of attempts to connect on threads of its own. */
  private final ReentrantLock changing = new ReentrantLock();

  private final Map<String, Consumer<String>> listeners = new ConcurrentHashMap<>();

  /** Channels whose subscription the server has confirmed on the connection in use. */
  private final Set<String> confirmed = ConcurrentHashMap.newKeySet();

  /** Channels that the server's user has no right to subscribe to. */
  private final Set<String> denied = ConcurrentHashMap.newKeySet();

  private final Resubscriber resubscriber = new Resubscriber(this, this::subscribeAgain);

  private volatile boolean closed;

  private LettuceTransport(
      StatefulRedisPubSubConnection<String, String> connection,
      ClientResources resources,
      @Nullable RedisClient ownClient,
      ChannelHolder channel,
      ConnectionOutage outage,
      TransportListener listener) {
    this.connection = connection;
    this.outage = outage;
    this.commands = connection.async();
    this.ownClient = ownClient;
    this.channel = channel;
    this.fallback = resources.eventExecutorGroup().next();
    connection.addListener(
        new RedisPubSubAdapter<>() {
          @Override
          public void message(String inbox, String message) {
            Consumer<String> listener = listeners.get(inbox);
            if (listener != null) {
              listener.accept(message);
            }
          }

          @Override
          public void subscribed(String inbox, long count) {
            confirmed.add(inbox);
            denied.remove(inbox);
          }

          @Override
          public void unsubscribed(String inbox, long count) {
            confirmed.remove(inbox);
          }
        });
    // For this connection, not for the client, which may have others.
    this.teller = new ReconnectNotifier(this, listener);
    connection.addListener(teller);
    this.failures =
        resources
            .eventBus()
            .get()
            .ofType(ReconnectFailedEvent.class)
            .subscribe(this::reconnectFailed);
  }

  /**
   * Connects with a client of its own. Blocks.
   *
   * @param listener is told about breaks and reconnects; about a new connection before it reads any
   *     answer
   * @throws RedisException if connecting fails; its causes say why
   */
  static LettuceTransport connect(
      ClientResources resources,
      Endpoint endpoint,
      ConnectionOutage outage,
      TransportListener listener) {
    RedisURI uri = uri(endpoint);
    ChannelHolder channel = new ChannelHolder();
    ClientResources own = resources.mutate().nettyCustomizer(channel).build();
    RedisClient client = RedisClient.create(own, uri);
    ClientOptions.Builder options =
        ClientOptions.builder()
            .socketOptions(
                SocketOptions.builder()
                    .connectTimeout(uri.getTimeout())
                    .keepAlive(
                        SocketOptions.KeepAliveOptions.builder()
                            .enable()
                            .idle(Duration.ofSeconds(SocketKeepAlive.IDLE_SECONDS))
                            .interval(Duration.ofSeconds(SocketKeepAlive.INTERVAL_SECONDS))
                            .count(SocketKeepAlive.COUNT)
                            .build())
                    .build())
            .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
            // True means: do not send this command again after a reconnect.
            .replayFilter(command -> true)
            // The sender watches the time: once for a batch, not for every command.
            .timeoutOptions(TimeoutOptions.builder().timeoutCommands(false).build());
    LettuceCompatibility.disableMaintenanceNotifications(options);
    if (endpoint.tls()) {
      options.sslOptions(
          SslOptions.builder()
              .sslContext(context -> addCertificates(context, endpoint.trusted()))
              .build());
    }
    client.setOptions(options.build());
    try {
      return new LettuceTransport(connect(client), resources, client, channel, outage, listener);
    } catch (RuntimeException e) {
      shutDown(client);
      throw e;
    }
  }

  /** Called for each connection: files that were replaced are read anew. */
  private static void addCertificates(SslContextBuilder context, @Nullable Path trusted) {
    try {
      for (KeyManager own : TrustedCertificates.keyManagers()) {
        context.keyManager(own);
      }
      if (trusted != null) {
        for (TrustManager manager : TrustedCertificates.trustManagers(trusted)) {
          context.trustManager(manager);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static RedisURI uri(Endpoint endpoint) {
    RedisURI.Builder uri =
        RedisURI.builder()
            .withHost(endpoint.host())
            .withPort(endpoint.port())
            .withDatabase(endpoint.database())
            .withSsl(endpoint.tls())
            .withTimeout(endpoint.timeout())
            .withClientName(Endpoint.CLIENT_NAME);
    String password = endpoint.password();
    String user = endpoint.user();
    if (password != null && user != null) {
      uri.withAuthentication(user, password.toCharArray());
    } else if (password != null) {
      uri.withPassword(password.toCharArray());
    }
    return uri.build();
  }

  /**
   * A server that refuses the handshake at once can close the channel before Lettuce looks at it,
   * and then Lettuce does not report the reason. A retry mostly shows it.
   */
  private static StatefulRedisPubSubConnection<String, String> connect(RedisClient client) {
    for (int left = 4; ; left--) {
      try {
        return client.connectPubSub(StringCodec.UTF8);
      } catch (RedisException e) {
        if (left == 0 || !isMute(e.getCause())) {
          throw e;
        }
      }
    }
  }

  private static boolean isMute(@Nullable Throwable cause) {
    String said = cause == null ? "" : String.valueOf(cause.getMessage());
    return said.contains("RedisHandshakeHandler") || said.contains("Connection closed prematurely");
  }

  /**
   * Connects with the caller's client. Blocks.
   *
   * @param listener as for {@link #connect(ClientResources, Endpoint, ConnectionOutage,
   *     TransportListener)}
   * @throws IllegalArgumentException if the client is restricted to RESP2
   * @throws RedisException if connecting fails; its causes say why
   */
  static LettuceTransport over(
      RedisClient client, ConnectionOutage outage, TransportListener listener) {
    if (client.getOptions().getConfiguredProtocolVersion() == ProtocolVersion.RESP2) {
      throw new IllegalArgumentException(
          "The Lettuce client is restricted to RESP2, in which one connection cannot both send and"
              + " be told. Leave its protocol version open.");
    }
    return new LettuceTransport(
        connect(client), client.getResources(), null, new ChannelHolder(), outage, listener);
  }

  @Override
  public void execute(Runnable task) {
    EventExecutor thread = thread();
    if (thread.inEventLoop()) {
      task.run();
    } else {
      try {
        thread.execute(task);
      } catch (RejectedExecutionException closed) {
        // The threads are gone: the order no longer matters, but every caller needs an answer.
        task.run();
      }
    }
  }

  @Override
  public void schedule(Runnable task, Duration delay) {
    try {
      var unused = thread().schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException closed) {
      task.run();
    }
  }

  private EventExecutor thread() {
    Channel current = channel.current;
    return current == null ? fallback : current.eventLoop();
  }

  @Override
  public boolean isOpen() {
    // The channel is closed before Lettuce updates the connection.
    Channel current = channel.current;
    return !closed && connection.isOpen() && (current == null || current.isActive());
  }

  @Override
  public CompletionStage<@Nullable Object> call(String... words) {
    CommandArgs<String, String> args = new CommandArgs<>(StringCodec.UTF8);
    for (int i = 1; i < words.length; i++) {
      args.add(words[i]);
    }
    return commands
        .dispatch(CommandType.valueOf(words[0]), new AnyReplyOutput(), args)
        .handle(LettuceTransport::outcome)
        .thenCompose(Function.identity());
  }

  private static CompletionStage<@Nullable Object> outcome(
      @Nullable Object answer, @Nullable Throwable failure) {
    if (failure == null) {
      return CompletableFuture.completedFuture(answer);
    }
    return CompletableFuture.failedFuture(translated(RedisReplies.unwrap(failure)));
  }

  private static Throwable translated(Throwable failure) {
    return failure instanceof RedisCommandExecutionException
        ? new ErrorReplyException(String.valueOf(failure.getMessage()))
        : failure;
  }

  /** The event may be of another connection of the client, and late. */
  private void reconnectFailed(ReconnectFailedEvent event) {
    Throwable root = event.getCause();
    while (root.getCause() != null) {
      root = root.getCause();
    }
    Throwable reason = translated(root);
    change(
        () -> {
          if (!isOpen()) {
            outage.failed(reason, event.remoteAddress(), closed);
          }
        });
  }

  private void change(Runnable ofTheOutage) {
    changing.lock();
    try {
      ofTheOutage.run();
    } finally {
      changing.unlock();
    }
  }

  @Override
  public String outageReason() {
    return outage.text();
  }

  @Override
  public void subscribe(String inbox, Consumer<String> listener) {
    listeners.put(inbox, listener);
    askFor(inbox);
  }

  private void askFor(String inbox) {
    if (!closed) {
      var unused =
          commands
              .subscribe(inbox)
              .whenComplete(
                  (done, failure) -> {
                    if (failure != null && isOpen()) {
                      log.debug("Redis refuses a subscription; it is asked again.", failure);
                      boolean forbidden = String.valueOf(failure.getMessage()).contains("NOPERM");
                      if (forbidden) {
                        denied.add(inbox);
                      }
                      resubscriber.after(forbidden ? Resubscriber.MUCH_LATER : Resubscriber.LATER);
                    }
                  });
    }
  }

  /** Lettuce resubscribes after a reconnect, but only once, and only confirmed channels. */
  private void subscribeAgain() {
    for (String inbox : listeners.keySet()) {
      if (!confirmed.contains(inbox) && isOpen()) {
        askFor(inbox);
      }
    }
  }

  @Override
  public boolean isSubscribed(String inbox) {
    return confirmed.contains(inbox) && isOpen();
  }

  @Override
  public boolean isDenied(String inbox) {
    return denied.contains(inbox);
  }

  @Override
  public void unsubscribe(String inbox) {
    denied.remove(inbox);
    if (listeners.remove(inbox) != null && !closed) {
      var unused = commands.unsubscribe(inbox);
    }
  }

  @Override
  public void reset() {
    Channel current = channel.current;
    if (current != null) {
      var unused = current.close();
    } else {
      disconnect();
    }
  }

  /**
   * Closes a channel that is unknown here. Lettuce allows only the last of the writers in the chain
   * to do so.
   */
  private void disconnect() {
    Object writer =
        connection instanceof RedisChannelHandler<?, ?> handler ? handler.getChannelWriter() : null;
    while (writer != null && !(writer instanceof DefaultEndpoint)) {
      writer = LettuceCompatibility.delegate(writer);
    }
    if (writer instanceof DefaultEndpoint last) {
      last.disconnect();
    }
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    connection.removeListener(teller);
    failures.dispose();
    connection.close();
    if (ownClient != null) {
      shutDown(ownClient);
    }
  }

  /** The threads are shared with the other transport and outlive this one. */
  private static void shutDown(RedisClient client) {
    client.shutdown(0, 2, TimeUnit.SECONDS);
    var unused = client.getResources().shutdown(0, 0, TimeUnit.SECONDS);
  }

  /** Takes each new channel of the one connection that its client opens. */
  private static final class ChannelHolder implements NettyCustomizer {
    volatile @Nullable Channel current;

    @Override
    public void afterChannelInitialized(Channel made) {
      current = made;
    }
  }

  /** Reports each connection opened after it was added, and so not the first. */
  private record ReconnectNotifier(LettuceTransport transport, TransportListener listener)
      implements RedisConnectionStateListener {
    @Override
    public void onRedisConnected(RedisChannelHandler<?, ?> connection, SocketAddress address) {
      transport.change(() -> transport.outage.end(address));
      listener.reconnected();
      transport.resubscriber.after(Resubscriber.LATER);
    }

    @Override
    public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
      transport.confirmed.clear();
      if (!transport.closed) {
        transport.change(() -> transport.outage.begin(LOST));
        listener.connectionLost(LOST);
      }
    }
  }
}
