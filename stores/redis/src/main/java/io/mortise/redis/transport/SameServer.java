package io.mortise.redis.transport;

import io.mortise.spi.time.Ticker;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ensures that the connections of a store, all opened to one address, lead to one server. Behind a
 * balancer, a lock would be taken on one server and be free on another.
 *
 * <p>A new connection learns the server's run id. If another connection in use leads to a server
 * with another run id, that server is asked, on that very connection. Only if both answer as
 * primaries at one time are they two servers. A server that was restarted, or replaced by its
 * replica, no longer answers, or answers as a replica: its connection is dropped, and reopened as
 * well. Two connections that are opened at one time do not ask each other, which would deadlock.
 * Each publishes its run id before it reads the other's, so at least one sees that they differ, and
 * is reopened.
 *
 * <p>Once two servers were seen, a connection is used again only if several more to the same
 * address all lead to the same server. Thread-safe; keeps no lock while it asks.
 */
public final class SameServer {
  private static final Logger log = LoggerFactory.getLogger(DirectTransport.class);

  /** How many further connections have to agree after two servers were seen. */
  private static final int CONFIRMATIONS = 3;

  private static final long LONGEST_ANSWER_NANOS = 1_000_000_000;

  private static final long LIBRARY_NANOS = 3_000_000_000L;

  /** A connection whose opening began this long ago is open by now, or failed. */
  private static final long MAKING_NANOS = 2_000_000_000;

  private final Endpoint endpoint;
  private final Ticker ticker;
  private final List<ServerMember> members = new CopyOnWriteArrayList<>();

  /** The message about two servers while there seem to be two; null otherwise. */
  private volatile @Nullable String different;

  public SameServer(Endpoint endpoint, Ticker ticker) {
    this.endpoint = endpoint;
    this.ticker = ticker;
  }

  /** The identity that a server reports. */
  private record Identity(String runId, boolean isPrimary) {
    static Identity of(@Nullable Object info) {
      String text = String.valueOf(info);
      return new Identity(field(text, "run_id:"), !field(text, "role:").equals("slave"));
    }

    private static String field(String info, String name) {
      return info.lines()
          .filter(line -> line.startsWith(name))
          .map(line -> line.substring(name.length()).trim())
          .findFirst()
          .orElse("");
    }
  }

  /**
   * Compares two connections of a client library, once. Blocks, for seconds at most.
   *
   * @param address for the message
   * @throws DifferentServersException if they lead to two servers
   */
  public static void require(RedisTransport one, RedisTransport other, String address)
      throws DifferentServersException {
    try {
      Identity first = Identity.of(ask(one, LIBRARY_NANOS));
      Identity second = Identity.of(ask(other, LIBRARY_NANOS));
      if (!first.runId.equals(second.runId) && !first.runId.isEmpty() && !second.runId.isEmpty()) {
        throw new DifferentServersException(text(address, first.runId, second.runId));
      }
    } catch (ExecutionException | TimeoutException notTold) {
      log.debug("A server did not tell who it is.", notTold);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static @Nullable Object ask(RedisTransport transport, long nanos)
      throws InterruptedException, ExecutionException, TimeoutException {
    return transport.call("INFO").toCompletableFuture().get(nanos, TimeUnit.NANOSECONDS);
  }

  private static String text(String address, String one, String other) {
    List<String> ids =
        Stream.of(one, other)
            .map(id -> id.substring(0, Math.min(8, id.length())))
            .sorted()
            .toList();
    return "Connections to %s lead to different servers at one time, with run ids %s and %s. Give an address that leads to the primary alone, or a redis-sentinel or redis-cluster URL"
        .formatted(address, ids.get(0), ids.get(1));
  }

  /** Resolves the endpoint of one more connection to the server. */
  public ServerMember member() {
    ServerMember member = new ServerMember();
    members.add(member);
    return member;
  }

  /** The identity behind one of the connections. */
  public final class ServerMember implements EndpointResolver {
    /** Null until the first connection is in use. */
    private volatile @Nullable DirectTransport transport;

    private volatile String runId = "";
    private volatile long begunAt;

    private ServerMember() {}

    /** Sets the transport that owns the connections. */
    public void belongsTo(DirectTransport user) {
      transport = user;
    }

    @Override
    public Endpoint resolve() {
      return endpoint;
    }

    @Override
    public void check(Endpoint found, String role, ServerQuestion server) throws IOException {
      Identity mine;
      try {
        mine = Identity.of(server.ask("INFO"));
      } catch (ErrorReplyException notTold) {
        // The check of the new server reports that.
        return;
      }
      if (mine.runId.isEmpty()) {
        return;
      }
      try {
        if (different != null) {
          confirm(mine);
        }
        begunAt = ticker.nanos();
        runId = mine.runId;
        for (ServerMember other : members) {
          if (other != this && !other.runId.isEmpty() && !other.runId.equals(mine.runId)) {
            compare(mine, other);
          }
        }
      } catch (IOException | RuntimeException e) {
        // A dead connection must not delay another one.
        runId = "";
        throw e;
      }
    }

    private void compare(Identity mine, ServerMember other) throws IOException {
      DirectTransport theirs = other.transport;
      if (theirs == null || theirs.peer() == null) {
        if (ticker.nanos() - other.begunAt < MAKING_NANOS) {
          throw new IOException("Another connection is being made, and leads to another server");
        }
        return;
      }
      Identity there;
      try {
        long most = Math.min(LONGEST_ANSWER_NANOS, endpoint.timeout().toNanos() / 2);
        there = Identity.of(SameServer.ask(theirs, most));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("Interrupted.", e);
      } catch (ExecutionException | TimeoutException gone) {
        theirs.reset();
        return;
      }
      if (there.runId.equals(mine.runId) || there.runId.isEmpty()) {
        return;
      }
      if (!there.isPrimary) {
        theirs.reset();
      } else if (!mine.isPrimary) {
        throw new NotTheMasterException("The server is a replica");
      } else {
        theirs.reset();
        throw differ(mine.runId, there.runId);
      }
    }

    /** Two servers were seen: now all connections to the address must lead to the same one. */
    private void confirm(Identity mine) throws IOException {
      for (int i = 0; i < CONFIRMATIONS; i++) {
        try (BlockingConnection more = BlockingConnection.to(endpoint, ticker)) {
          Identity there = Identity.of(more.ask("INFO"));
          if (!there.runId.equals(mine.runId)) {
            throw differ(mine.runId, there.runId);
          }
        }
      }
      different = null;
      log.info("All connections to Redis at {} lead to one server again.", endpoint);
    }

    private DifferentServersException differ(String one, String other) {
      String seen = different;
      if (seen == null) {
        seen = text(endpoint.toString(), one, other);
        different = seen;
        if (transport != null) {
          log.warn("{}. No lock is served until all connections lead to one server.", seen);
        }
      }
      return new DifferentServersException(seen);
    }

    @Override
    public String toString() {
      return endpoint.toString();
    }
  }
}
