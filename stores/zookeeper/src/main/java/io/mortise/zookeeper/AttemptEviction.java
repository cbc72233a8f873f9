package io.mortise.zookeeper;

import io.mortise.LockName;
import io.mortise.admin.Eviction;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.AttemptState;
import io.mortise.spi.Reply.EndReason;
import io.mortise.zookeeper.ZooKeeperInspector.FoundAttempt;
import io.mortise.zookeeper.internal.StoreResources;
import io.mortise.zookeeper.internal.node.NodeLayout;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Evicts attempts of other sessions, by a note that their session reads. {@link Eviction#BREAK}
 * removes the node in the same transaction. {@link Eviction#CLOSE} leaves that to the session,
 * which removes a holder's node after a TTL at the latest; a session that does not read the note
 * expires. Thread-safe.
 *
 * <p>The note outlives its writer, since a session that is not connected reads it later. It is
 * written only while that session lives. Each eviction removes what dead ones have left.
 */
final class AttemptEviction {
  /** Parts of the transaction. */
  private static final int SESSION = 0;

  private static final int NOTE = 1;
  private static final int NODE = 2;

  /** A node may be written, and an empty container be removed, in between. */
  private static final int MOST_TRIES = 3;

  private final ZooKeeperLockStore store;

  AttemptEviction(ZooKeeperLockStore store) {
    this.store = store;
  }

  /** As {@link io.mortise.spi.LockStore#evict}. */
  CompletionStage<Reply.Ended> evict(LockName name, AttemptId attempt, Eviction how) {
    return store
        .resources()
        .<Reply.Ended>ask(
            (client, answer) -> new EvictionStep(client, name, attempt, how, answer).find());
  }

  /** The eviction of one attempt. */
  private final class EvictionStep {
    private final ZooKeeper client;
    private final LockName name;
    private final AttemptId attempt;
    private final Eviction how;
    private final CompletableFuture<Reply.Ended> answer;
    private int tries;

    EvictionStep(
        ZooKeeper client,
        LockName name,
        AttemptId attempt,
        Eviction how,
        CompletableFuture<Reply.Ended> answer) {
      this.client = client;
      this.name = name;
      this.attempt = attempt;
      this.how = how;
      this.answer = answer;
    }

    void find() {
      store.inspector().find(client, name, attempt, answer, this::readAcl);
    }

    private void findAgain() {
      if (tries++ < MOST_TRIES) {
        find();
      } else {
        fail();
      }
    }

    private void fail() {
      answer.completeExceptionally(store.resources().silent());
    }

    /** The session must be able to read and remove the note, whoever the operator is. */
    private void readAcl(FoundAttempt found) {
      client.getACL(
          store.layout().session(attempt.session()),
          new Stat(),
          (rc, path, context, acl, stat) -> send(found, rc == 0 ? acl : store.options().acl()),
          null);
    }

    private void send(FoundAttempt found, List<ACL> acl) {
      NodeLayout layout = store.layout();
      List<Op> operations = new ArrayList<>();
      operations.add(Op.check(layout.session(attempt.session()), -1));
      operations.add(Op.create(layout.eviction(attempt), new byte[0], acl, CreateMode.PERSISTENT));
      operations.addAll(
          how == Eviction.BREAK
              ? removal(found)
              : opening(found, Op.check(found.node(), found.version())));
      client.multi(
          operations,
          (rc, path, context, results) -> {
            if (rc == 0) {
              done(found);
            } else if (failed(results, NOTE, Code.NONODE) && tries++ < MOST_TRIES) {
              makeContainers(acl);
              send(found, acl);
            } else if (failed(results, SESSION, Code.NONODE)
                || failed(results, NOTE, Code.NODEEXISTS)) {
              // The session has ended, and its nodes go with it; or it was told before.
              breakOnly(found);
            } else if (failed(results, NODE, Code.NONODE)) {
              answer.complete(ZooKeeperInspector.absent(attempt));
            } else if (failed(results, NODE, Code.BADVERSION) || marksChanged(results)) {
              findAgain();
            } else {
              fail();
            }
          },
          null);
    }

    private List<Op> removal(FoundAttempt found) {
      return opening(found, Op.delete(found.node(), found.version()));
    }

    /** No at-least time of the hold keeps the lock shut, now or when its owner gives it up. */
    private List<Op> opening(FoundAttempt found, Op first) {
      List<Op> operations = new ArrayList<>();
      operations.add(first);
      found.marks().forEach(mark -> operations.add(Op.delete(mark, -1)));
      return operations;
    }

    private void makeContainers(List<ACL> acl) {
      NodeLayout layout = store.layout();
      for (String path : List.of(layout.allNotes(), layout.notes(attempt.session()))) {
        client.create(
            path, new byte[0], acl, CreateMode.CONTAINER, (rc, made, context, name) -> {}, null);
      }
    }

    private void breakOnly(FoundAttempt found) {
      if (how == Eviction.CLOSE) {
        done(found);
        return;
      }
      client.multi(
          removal(found),
          (rc, path, context, results) -> {
            if (rc == 0 || failed(results, 0, Code.NONODE)) {
              done(found);
            } else if (rc == Code.BADVERSION.intValue() || rc == Code.NONODE.intValue()) {
              findAgain();
            } else {
              fail();
            }
          },
          null);
    }

    /**
     * Answers; for a waiter that is closed when its session has removed the node, or does not do so
     * soon: it is not connected, or the waiter holds by now.
     */
    private void done(FoundAttempt found) {
      Reply.Ended ended = found.ended(attempt, EndReason.EVICTED);
      var unused = answer.thenRun(() -> sweep(client));
      if (found.was() == AttemptState.HELD || how == Eviction.BREAK) {
        answer.complete(ended);
        return;
      }
      store
          .resources()
          .timer()
          .in(store.options().timeout().toNanos() / 2, () -> answer.complete(ended));
      client.exists(
          found.node(),
          event -> {
            if (event.getType() == EventType.NodeDeleted) {
              answer.complete(ended);
            }
          },
          (rc, path, context, stat) -> {
            if (stat == null) {
              answer.complete(ended);
            }
          },
          null);
    }
  }

  private static boolean marksChanged(@Nullable List<OpResult> results) {
    return results != null
        && IntStream.range(NODE + 1, results.size())
            .anyMatch(part -> failed(results, part, Code.NONODE));
  }

  private static boolean failed(@Nullable List<OpResult> results, int part, Code code) {
    return results != null
        && results.size() > part
        && results.get(part) instanceof OpResult.ErrorResult error
        && error.getErr() == code.intValue();
  }

  // ---- Sweeping ----

  /** Removes notes of sessions that have ended since. Nobody waits for that. */
  private void sweep(ZooKeeper client) {
    StoreResources resources = store.resources();
    CompletableFuture<Void> unused = new CompletableFuture<>();
    resources.children(
        client,
        store.layout().allNotes(),
        unused,
        noted ->
            resources.children(
                client,
                store.layout().sessions(),
                unused,
                alive -> {
                  Set<String> dead = new HashSet<>(noted);
                  alive.forEach(dead::remove);
                  dead.forEach(session -> removeNotes(client, session));
                }));
  }

  private void removeNotes(ZooKeeper client, String session) {
    client.getChildren(
        store.layout().allNotes() + "/" + session,
        false,
        (rc, path, context, notes) -> {
          for (String note : notes == null ? List.<String>of() : notes) {
            if (note.endsWith(NodeLayout.EVICTED)) {
              client.delete(path + "/" + note, -1, (code, gone, unused) -> {}, null);
            }
          }
        },
        null);
  }
}
