package io.mortise.curator;

import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.zookeeper.internal.AdminConnection;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.NoNodeException;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Lists holders and waiters, of Curator's clients and ours, by their nodes. Blocks for its answers.
 *
 * <p>Facts that the layout lacks are filled in: a client of Curator is known by its address; times
 * count from the creation of a node, which for a holder is the beginning of its wait.
 */
final class CuratorInspector {
  private static final int MOST = 1_000;
  private static final Duration OTHER_TTL = Duration.ofMinutes(1);

  private final AdminConnection adminConnection;
  private final LockPaths paths;
  private final String display;
  private final InstantSource wall;
  private final ReentrantLock guard = new ReentrantLock();

  CuratorInspector(
      AdminConnection adminConnection, LockPaths paths, String display, InstantSource wall) {
    this.adminConnection = adminConnection;
    this.paths = paths;
    this.display = display;
    this.wall = wall;
  }

  Page<LockInfo> look(LockQuery query) {
    guard.lock();
    try {
      ZooKeeper open = adminConnection.client();
      LockName only = query.name() == null ? null : LockName.of(query.name());
      if (only == null) {
        return new LockTreeWalker(open, query).page();
      } else if (LockPaths.refusal(only) != null) {
        return new Page<>(List.of(), null);
      }
      LockInfo view = view(open, only, children(open, paths.of(only)));
      return new Page<>(view == null || isIdle(view) ? List.of() : List.of(view), null);
    } catch (KeeperException e) {
      throw unavailable(e);
    } catch (InterruptedException e) {
      throw interrupted(e);
    } finally {
      guard.unlock();
    }
  }

  private StoreUnavailableException unavailable(Exception cause) {
    return new StoreUnavailableException(
        "ZooKeeper could not be asked: " + cause + " (store=" + display + ").", cause);
  }

  private StoreUnavailableException interrupted(InterruptedException cause) {
    Thread.currentThread().interrupt();
    return new StoreUnavailableException(
        "Interrupted while asking ZooKeeper (store=" + display + ").", cause);
  }

  private static boolean isIdle(LockInfo view) {
    return view.holders().isEmpty() && view.waiters().isEmpty();
  }

  private static @Nullable List<String> children(ZooKeeper open, String path)
      throws KeeperException, InterruptedException {
    try {
      return open.getChildren(path, false);
    } catch (NoNodeException e) {
      return null;
    }
  }

  private @Nullable LockInfo view(ZooKeeper open, LockName name, @Nullable List<String> children)
      throws KeeperException, InterruptedException {
    if (children == null) {
      return null;
    }
    String path = paths.of(name);
    boolean semaphore =
        children.contains(SemaphoreNodes.LEASES) || children.contains(SemaphoreNodes.LOCKS);
    if (semaphore && SemaphoreNodes.misuse(children) == null) {
      return semaphore(open, name, path);
    }
    Recipe recipe =
        children.stream().anyMatch(Recipe.MUTEX::isMine) ? Recipe.MUTEX : Recipe.READ_WRITE;
    List<String> line = sorted(children.stream().filter(recipe::isMine).toList(), recipe::order);
    List<Place> holders = new ArrayList<>();
    List<Place> waiters = new ArrayList<>();
    int waiting = 0;
    String writerAhead = null;
    for (String node : line) {
      boolean writer = node.contains(recipe.word(false));
      String order = recipe.order(node);
      // A reader with its writer's number is inside it.
      boolean holds =
          writer
              ? holders.isEmpty() && waiters.isEmpty()
              : writerAhead == null || (writerAhead.equals(order) && waiters.isEmpty());
      writerAhead = writer && writerAhead == null ? order : writerAhead;
      waiting += holds ? 0 : 1;
      if (waiters.size() < MOST) {
        ObservedNode seen = seen(open, CuratorAttempt.child(path, node));
        if (seen != null) {
          (holds ? holders : waiters).add(new Place(seen, writer ? Mode.SHARERS : 1, holds));
        }
      }
    }
    return viewOf(name, Mode.SHARERS, holders, waiters, waiting);
  }

  private LockInfo semaphore(ZooKeeper open, LockName name, String path)
      throws KeeperException, InterruptedException {
    List<Place> holders = new ArrayList<>();
    List<Place> waiters = new ArrayList<>();
    int capacity = 0;
    String leases = CuratorAttempt.child(path, SemaphoreNodes.LEASES);
    List<String> taken = children(open, leases);
    List<AttemptId> counting = new ArrayList<>();
    for (String node : sorted(taken, SemaphoreNodes::order)) {
      ObservedNode seen = seen(open, CuratorAttempt.child(leases, node));
      if (seen != null) {
        capacity = Math.max(capacity, seen.note().capacity());
        merge(holders, new Place(seen, 1, true));
      }
    }
    String locks = CuratorAttempt.child(path, SemaphoreNodes.LOCKS);
    List<String> line = children(open, locks);
    for (String node : sorted(line, Recipe.MUTEX::order)) {
      ObservedNode seen = seen(open, CuratorAttempt.child(locks, node));
      if (seen != null && waiters.size() < MOST) {
        waiters.add(new Place(seen, 1, false));
        counting.add(seen.attempt());
      }
    }
    // An attempt in the line still waits, though it may have made its leases.
    holders.removeIf(holder -> counting.contains(holder.seen().attempt()));
    int held = holders.stream().mapToInt(Place::weight).sum();
    return viewOf(
        name,
        Math.max(1, Math.max(capacity, held)),
        holders,
        waiters,
        line == null ? 0 : line.size());
  }

  private static void merge(List<Place> holders, Place one) {
    for (int i = 0; i < holders.size(); i++) {
      Place known = holders.get(i);
      if (known.seen().attempt().equals(one.seen().attempt())) {
        holders.set(i, new Place(known.seen(), known.weight() + 1, true));
        return;
      }
    }
    holders.add(one);
  }

  private static LockInfo viewOf(
      LockName name, int capacity, List<Place> holders, List<Place> waiters, int waiting) {
    return new LockInfo(
        name.value(),
        Mode.permits(capacity),
        holders.stream().mapToLong(Place::token).max().orElse(0),
        Duration.ZERO,
        holders.stream().map(place -> place.shown(capacity)).toList(),
        waiters.stream().map(place -> place.shown(capacity)).toList(),
        holders.size(),
        waiting,
        null);
  }

  private static List<String> sorted(@Nullable List<String> nodes, Function<String, String> order) {
    return nodes == null ? List.of() : nodes.stream().sorted(Comparator.comparing(order)).toList();
  }

  private @Nullable ObservedNode seen(ZooKeeper open, String path)
      throws KeeperException, InterruptedException {
    Stat stat = new Stat();
    try {
      byte[] data = open.getData(path, false, stat);
      byte[] content = data == null ? new byte[0] : data;
      return new ObservedNode(
          ProtectedNodeName.attempt(CuratorAttempt.last(path)),
          NodeDescription.parse(content, OTHER_TTL),
          stat,
          Duration.ofMillis(Math.max(0, wall.millis() - stat.getCtime())));
    } catch (NoNodeException e) {
      return null;
    }
  }

  private record ObservedNode(AttemptId attempt, NodeDescription note, Stat stat, Duration age) {}

  /** A node, its weight, and whether it holds. */
  private record Place(ObservedNode seen, int weight, boolean holds) {
    long token() {
      return holds ? CuratorTokens.first(seen.stat().getCzxid()) : 0;
    }

    LockParticipant shown(int capacity) {
      NodeDescription note = seen.note();
      return seen.attempt()
          .participant(
              note.client(),
              note.label(),
              Mode.share(weight, capacity),
              token(),
              seen.age(),
              note.ttl(),
              null,
              note.ttl(),
              null);
    }
  }

  /** Walks over the tree below the base, in the order of its paths, for one page of locks. */
  private final class LockTreeWalker {
    private final ZooKeeper open;
    private final LockQuery query;
    private final List<LockInfo> views = new ArrayList<>();
    private @Nullable String next;

    LockTreeWalker(ZooKeeper open, LockQuery query) {
      this.open = open;
      this.query = query;
    }

    Page<LockInfo> page() throws KeeperException, InterruptedException {
      String base = paths.base();
      List<String> roots = children(open, base.isEmpty() ? "/" : base);
      visitAll(base, roots == null ? List.of() : roots);
      return new Page<>(views, next);
    }

    private void visitAll(String parent, List<String> children)
        throws KeeperException, InterruptedException {
      for (String child : children.stream().sorted().toList()) {
        boolean isNode = Recipe.MUTEX.isMine(child) || Recipe.READ_WRITE.isMine(child);
        boolean isSystem = parent.isEmpty() && child.equals("zookeeper");
        String path = CuratorAttempt.child(parent, child);
        if (next == null && !isNode && !isSystem && !paths.isReserved(path)) {
          visit(path);
        }
      }
    }

    private void visit(String path) throws KeeperException, InterruptedException {
      String from = query.cursor();
      boolean before = from != null && order(path).compareTo(order(from)) < 0;
      if (from != null && before && !from.startsWith(path + "/")) {
        // Nothing below it is on this page: its paths all come before the cursor as well.
        return;
      }
      LockName name = paths.name(path);
      String below = name + "/";
      if (!below.startsWith(query.prefix()) && !query.prefix().startsWith(below)) {
        return;
      }
      List<String> children = children(open, path);
      if (children == null) {
        return;
      }
      boolean semaphore =
          children.contains(SemaphoreNodes.LEASES) && children.contains(SemaphoreNodes.LOCKS);
      if (!before
          && query.matches(name.value())
          && (children.isEmpty() || semaphore || hasNodes(children))) {
        LockInfo view = view(open, name, children);
        if (view != null && (query.idle() || !isIdle(view))) {
          if (views.size() == query.limit()) {
            next = path;
            return;
          }
          views.add(view);
        }
      }
      if (!semaphore) {
        visitAll(path, children);
      }
    }

    /** The children of a path come right after it. */
    private static String order(String path) {
      return path.replace('/', '\u0001');
    }

    private static boolean hasNodes(List<String> children) {
      return children.stream()
          .anyMatch(child -> Recipe.MUTEX.isMine(child) || Recipe.READ_WRITE.isMine(child));
    }
  }
}
