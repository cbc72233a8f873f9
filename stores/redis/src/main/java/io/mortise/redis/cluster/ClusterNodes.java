package io.mortise.redis.cluster;

import io.mortise.internal.runtime.DaemonThreads;
import io.mortise.redis.transport.BlockingConnection;
import io.mortise.redis.transport.DirectTransport;
import io.mortise.redis.transport.Endpoint;
import io.mortise.redis.transport.EndpointResolver;
import io.mortise.redis.transport.ErrorReplyException;
import io.mortise.spi.time.Ticker;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The nodes of a cluster: which node serves which slot, with two connections to each node that
 * serves any. A thread of its own asks them now and then, and soon after a failure; the answer with
 * the latest epoch counts. Thread-safe.
 *
 * <p>The connections to a vanished node keep reconnecting until the others say that it serves no
 * slot.
 */
public final class ClusterNodes implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(ClusterNodes.class);

  private static final Pattern PORT = Pattern.compile("[0-9]{1,5}");

  private static final long LOOK_MILLIS = 5_000;

  /** The shortest pause between two looks, whatever fails. */
  private static final long PAUSE_MILLIS = 100;

  /** The longest pause, when looks bring nothing new: each costs every node a connection. */
  private static final long LONGEST_PAUSE_MILLIS = 1_000;

  /** How long a node may take to answer. */
  private static final Duration PATIENCE = Duration.ofMillis(500);

  private final List<Endpoint> seeds;
  private final ScheduledExecutorService timer;
  private final Ticker ticker;
  private final Duration stuck;
  private final Runnable reconnected;
  private final Map<String, NodeConnections> connections = new ConcurrentHashMap<>();
  private final List<SlotTransport> followers = new CopyOnWriteArrayList<>();
  private final Semaphore asked = new Semaphore(0);
  private final Thread looking;
  private volatile SlotMap map = SlotMap.EMPTY;

  /** The map that the nodes reported last. Used by the thread that looks. */
  private SlotMap told;

  private volatile boolean closed;

  /** Maps are taken one at a time: their followers subscribe, which writes to sockets. */
  private final ReentrantLock taking = new ReentrantLock();

  /** The connections to a node: one for operations, one for renewals and inspection. */
  private record NodeConnections(DirectTransport operations, DirectTransport renewals) {
    void close() {
      operations.close();
      renewals.close();
    }
  }

  /** The purpose of a connection. */
  public enum ConnectionRole {
    /** For operations on locks. */
    OPERATIONS,
    /** For renewals and inspection. */
    RENEWALS
  }

  /**
   * Asks the nodes. Blocks.
   *
   * @param seeds some nodes, with credentials; their timeout bounds connecting to any
   * @param reconnected called when a connection to a node was reopened, or a slot has moved
   * @throws ErrorReplyException if the nodes that answer refuse
   * @throws IOException if none answers
   */
  public ClusterNodes(
      List<Endpoint> seeds,
      ScheduledExecutorService timer,
      Ticker ticker,
      Duration stuck,
      Runnable reconnected)
      throws IOException {
    this.seeds = List.copyOf(seeds);
    this.timer = timer;
    this.ticker = ticker;
    this.stuck = stuck;
    this.reconnected = reconnected;
    this.told = ask();
    this.map = told;
    this.looking = DaemonThreads.create("mortise-redis-cluster", this::look);
    looking.start();
  }

  /** A transport that leads to the node that serves the slot. */
  public SlotTransport transport(int slot, ConnectionRole connectionRole) {
    SlotTransport transport = new SlotTransport(this, slot, connectionRole);
    followers.add(transport);
    return transport;
  }

  /** The node that serves a slot; null if none is known. */
  public @Nullable Endpoint owner(int slot) {
    return map.owner(slot);
  }

  /** The connection to the node that serves the slot; null if no such node is known. */
  @Nullable DirectTransport connection(int slot, ConnectionRole connectionRole) {
    Endpoint owner = map.owner(slot);
    if (owner == null || closed) {
      return null;
    }
    NodeConnections nodeConnections =
        connections.computeIfAbsent(owner.toString(), unused -> connect(owner));
    return connectionRole == ConnectionRole.OPERATIONS
        ? nodeConnections.operations()
        : nodeConnections.renewals();
  }

  private NodeConnections connect(Endpoint node) {
    EndpointResolver there = EndpointResolver.fixed(node);
    return new NodeConnections(
        DirectTransport.connecting(
            there,
            "mortise-redis-operations-" + node.port(),
            timer,
            ticker,
            stuck,
            this::reconnected),
        DirectTransport.connecting(
            there,
            "mortise-redis-renewals-" + node.port(),
            timer,
            ticker,
            stuck,
            this::reconnected));
  }

  private void reconnected() {
    lookSoon();
    reconnected.run();
  }

  ScheduledExecutorService timer() {
    return timer;
  }

  void forget(SlotTransport transport) {
    followers.remove(transport);
  }

  /**
   * A node said that another serves the slot.
   *
   * @param address of the other: {@code host:port}. Without a host it is that of the node that said
   *     so; with a question mark that node does not know it, and the nodes are asked
   */
  void moved(int slot, String address) {
    int colon = address.lastIndexOf(':');
    String host = colon < 0 ? "?" : address.substring(0, colon);
    String port = address.substring(colon + 1);
    Endpoint before = map.owner(slot);
    if (!host.equals("?") && PORT.matcher(port).matches()) {
      Endpoint known = before == null ? seeds.get(0) : before;
      Endpoint owner = known.at(host.isEmpty() ? known.host() : host, Integer.parseInt(port));
      if (before == null || !before.toString().equals(owner.toString())) {
        take(map.with(slot, owner));
      }
    }
    lookSoon();
  }

  /** Has the nodes asked after a failure, unless they were asked just now. */
  void lookSoon() {
    if (asked.availablePermits() == 0) {
      asked.release();
    }
  }

  private void look() {
    int vain = 0;
    while (!closed) {
      try {
        if (asked.tryAcquire(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
          asked.drainPermits();
        } else {
          vain = 0;
        }
        if (!closed) {
          SlotMap before = told;
          lookNow();
          vain = told.agreesWith(before) ? vain + 1 : 0;
          Thread.sleep(pauseMillis(vain));
        }
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  private void lookNow() {
    try {
      told = ask();
      take(told);
      retire();
    } catch (IOException | RuntimeException | Error e) {
      // Out of memory, perhaps: this thread must go on after any failure.
      log.debug("No node of the cluster tells who serves what.", e);
      lookSoon();
    }
  }

  /** A random time up to a growing limit, so that clients do not all ask at once. */
  private static long pauseMillis(int vain) {
    long longest = Math.min(LONGEST_PAUSE_MILLIS, PAUSE_MILLIS << Math.min(vain, 10));
    return ThreadLocalRandom.current().nextLong(PAUSE_MILLIS, longest + 1);
  }

  private void take(SlotMap next) {
    taking.lock();
    try {
      map = next;
      followers.forEach(SlotTransport::follow);
    } finally {
      taking.unlock();
    }
  }

  /** Closes the connections to nodes that serve no slot. */
  private void retire() {
    for (Map.Entry<String, NodeConnections> entry : Map.copyOf(connections).entrySet()) {
      if (!map.masters().containsKey(entry.getKey())) {
        log.debug("Node {} serves no slot any more.", entry.getKey());
        connections.remove(entry.getKey(), entry.getValue());
        entry.getValue().close();
      }
    }
  }

  /** The map that a node reports, and how much of the cluster it knows. */
  private record NodeTopology(SlotMap map, boolean whole, long epoch) {
    boolean isBetterThan(@Nullable NodeTopology other) {
      return other == null || (whole != other.whole ? whole : epoch > other.epoch);
    }
  }

  private SlotMap ask() throws IOException {
    Map<String, Endpoint> nodes = new LinkedHashMap<>(map.masters());
    seeds.forEach(seed -> nodes.putIfAbsent(seed.toString(), seed));
    NodeTopology best = null;
    List<Throwable> failures = new ArrayList<>();
    for (Endpoint node : nodes.values()) {
      try (BlockingConnection blockingConnection =
          BlockingConnection.to(node.within(PATIENCE), ticker)) {
        String info = String.valueOf(blockingConnection.ask("CLUSTER", "INFO"));
        Object slots = blockingConnection.ask("CLUSTER", "SLOTS");
        NodeTopology nodeTopology =
            new NodeTopology(
                SlotMap.parse(slots instanceof List<?> list ? list : List.of(), node),
                info.contains("cluster_state:ok"),
                epoch(info));
        best = nodeTopology.isBetterThan(best) ? nodeTopology : best;
      } catch (IOException | RuntimeException e) {
        failures.add(e);
      }
    }
    if (best != null) {
      return best.map();
    }
    for (Throwable failure : failures) {
      if (failure instanceof ErrorReplyException refusal) {
        throw refusal;
      }
    }
    IOException silence = new IOException("No node of the cluster answers: " + nodes.keySet());
    failures.forEach(silence::addSuppressed);
    throw silence;
  }

  private static long epoch(String info) {
    return info.lines()
        .filter(line -> line.startsWith("cluster_current_epoch:"))
        .mapToLong(line -> Long.parseLong(line.substring(line.indexOf(':') + 1).trim()))
        .findFirst()
        .orElse(0);
  }

  @Override
  public void close() {
    closed = true;
    looking.interrupt();
    connections.values().forEach(NodeConnections::close);
    connections.clear();
  }
}
