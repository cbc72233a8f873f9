package io.mortise.curator;

import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.AttemptState;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Reply.RefusalReason;
import io.mortise.spi.Request;
import io.mortise.spi.SessionNotification;
import io.mortise.support.internal.session.Refusals;
import io.mortise.zookeeper.internal.AsyncNodeClient;
import java.util.List;
import java.util.Objects;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * An attempt of a mutex or a read/write lock: one node in the line of the lock's directory.
 *
 * <p><b>Acquire</b> sends the creation of the node and the listing of its directory together: one
 * round trip if it is first. An attempt that is not first watches the node before, and lists the
 * line again when that one goes. Other nodes may still be ahead, or, before a writer, the reader
 * inside a writer that has gone; or another client may have deleted its own node.
 *
 * <p><b>Wanted.</b> The listing that grants leaves a watch on the directory. Any later change of it
 * means that another client wants the exclusively held lock.
 *
 * <p><b>A lost reply</b> leaves in doubt whether the node was made. Its name begins with the
 * attempt's id, so the next request finds it, after a {@code sync}: by then the server has either
 * executed the old request or will refuse it, since it came over a connection that the session has
 * left (SESSIONMOVED).
 */
class MutexAttempt extends CuratorAttempt implements Watcher {
  private static final int TRIES = 5;

  private final Recipe recipe;
  private final String directory;
  private final String prefix;
  private final NodeSearch nodeSearch;
  private final WriterDowngrade downgrade;

  private MutexPhase phase = MutexPhase.NEW;
  private boolean reading;
  private String node = "";
  private long token;
  private int tokensGiven;
  private int tokensAsked = 1;
  private boolean wanted;
  private boolean deleting;

  /** Whether its node belongs to another session, if there is one. */
  private boolean foreign;

  /** Whether it held when it was found again after a doubt. */
  private boolean heldWhenFound;

  /**
   * The node that the attempt waits for, and the number of nodes up to and including it when the
   * line was read.
   */
  private @Nullable String next;

  private int ahead;
  private @Nullable String first;

  private enum MutexPhase {
    /** There is no node. */
    NEW,
    /** There may or may not be a node. */
    IN_DOUBT,
    WAITING,
    HELD
  }

  MutexAttempt(
      CuratorSession session, LockName name, AttemptId attempt, Recipe recipe, String directory) {
    super(session, name, attempt);
    this.recipe = recipe;
    this.directory = directory;
    this.prefix = ProtectedNodeName.prefix(attempt);
    this.nodeSearch = new NodeSearch(session, recipe, directory, prefix);
    this.downgrade = new WriterDowngrade(session, directory);
  }

  /** For an attempt that may have a node; this process knows no more of it. */
  MutexAttempt inDoubt() {
    phase = MutexPhase.IN_DOUBT;
    foreign = true;
    return this;
  }

  private AsyncNodeClient nodes() {
    return session.nodes();
  }

  // ---- Acquiring ----

  @Override
  void acquire(Request.Acquire request, AttemptOperation operation) {
    switch (phase) {
      case NEW -> {
        reading = request.mode().equals(Mode.SHARED);
        tokensAsked = request.tokens();
        create(request, operation, 0);
      }
      case IN_DOUBT ->
          find(
              operation,
              () -> {
                if (phase == MutexPhase.NEW) {
                  acquire(request, operation);
                } else {
                  lookAtLine(request.queue(), operation);
                }
              });
      case WAITING -> lookAgain(request.queue(), operation);
      case HELD -> operation.end(granted());
    }
  }

  private void create(Request.Acquire request, AttemptOperation operation, int tries) {
    String path = child(directory, prefix + recipe.word(reading));
    byte[] note = session.note(request);
    Code[] failure = {Code.OK};
    nodes()
        .create(
            path,
            note,
            CreateMode.EPHEMERAL_SEQUENTIAL,
            (code, made) -> {
              failure[0] = code;
              if (made != null) {
                made(made);
              }
            });
    nodes()
        .children(
            directory,
            wantedWatch(),
            (code, children) -> {
              if (failure[0] == Code.NONODE && tries < TRIES) {
                beforeDirectories(operation, () -> directories(request, operation, tries + 1));
              } else if (failure[0] != Code.OK) {
                phase = failure[0] == Code.CONNECTIONLOSS ? MutexPhase.IN_DOUBT : MutexPhase.NEW;
                operation.fail(failure[0], path);
              } else if (children != null) {
                decide(children, request.queue(), operation);
              } else {
                operation.fail(code, directory);
              }
            });
  }

  /** Checks to run before the first node of a lock is made. */
  void beforeDirectories(AttemptOperation operation, Runnable then) {
    then.run();
  }

  private void directories(Request.Acquire request, AttemptOperation operation, int tries) {
    nodes().directories(directory, (made, unused) -> again(request, operation, tries, made));
  }

  private void again(Request.Acquire request, AttemptOperation operation, int tries, Code code) {
    if (code == Code.OK) {
      create(request, operation, tries);
    } else {
      operation.fail(code, directory);
    }
  }

  private void made(AsyncNodeClient.CreatedNode made) {
    node = last(made.path());
    token = CuratorTokens.first(made.stat().getCzxid());
    phase = MutexPhase.WAITING;
  }

  /** Looks for the node of an attempt in doubt. Afterwards it is WAITING, or NEW if it has none. */
  private void find(AttemptOperation operation, Runnable then) {
    nodeSearch.find(
        operation,
        found -> {
          Stat stat = found == null ? null : found.stat();
          heldWhenFound = found == null ? heldWhenFound : found.holds();
          if (found == null || stat == null || !(foreign || session.owns(stat))) {
            phase = MutexPhase.NEW;
          } else {
            node = found.node();
            reading = found.reads();
            token = token == 0 ? CuratorTokens.first(stat.getCzxid()) : token;
            phase = MutexPhase.WAITING;
          }
          then.run();
        });
  }

  // ---- Looking at the line ----

  @Override
  void look(AttemptOperation operation) {
    if (phase == MutexPhase.WAITING) {
      lookAgain(true, operation);
    } else {
      operation.end(standing());
    }
  }

  /**
   * Checks that the node before still exists. A poll also reads the first in line, which it reports
   * as the holder. The cost does not depend on the length of the line.
   */
  private void lookAgain(boolean queue, AttemptOperation operation) {
    String before = next;
    String head = first;
    if (before == null || head == null || !queue) {
      lookAtLine(queue, operation);
    } else if (head.equals(before) || !operation.isAsked()) {
      watch(before, operation);
    } else {
      nodes()
          .stat(
              child(directory, head),
              (code, stat) -> {
                if (stat != null) {
                  watch(before, operation);
                } else if (code == Code.NONODE) {
                  lookAtLine(true, operation);
                } else {
                  operation.fail(code, head);
                }
              });
    }
  }

  private @Nullable Watcher wantedWatch() {
    return reading || !isAlone() ? null : this;
  }

  private void lookAtLine(boolean queue, AttemptOperation operation) {
    nodes()
        .children(
            directory,
            wantedWatch(),
            (code, children) -> {
              if (children != null) {
                decide(children, queue, operation);
              } else if (code == Code.NONODE) {
                gone(operation);
              } else {
                operation.fail(code, directory);
              }
            });
  }

  private void decide(List<String> children, boolean queue, AttemptOperation operation) {
    Recipe.RecipePosition place = recipe.place(children, node, reading);
    if (place == null) {
      gone(operation);
      return;
    }
    LineRefusal refusal = LineRefusal.of(recipe, directory, children, node, token, place);
    if (refusal != null) {
      remove(operation, () -> refuse(refusal, operation));
    } else if (place.holds()) {
      hold(place.wanted(), operation);
    } else if (!queue) {
      Reply busy = new Reply.Busy(attempt, holder(place.first()), session.ttl());
      remove(operation, () -> operation.end(busy));
    } else {
      ahead = place.ahead();
      first = place.first();
      watch(Objects.requireNonNull(place.next()), operation);
    }
  }

  private void refuse(LineRefusal refusal, AttemptOperation operation) {
    if (refusal.why() == RefusalReason.STORE_FULL) {
      // Fails unless it is empty by now.
      nodes().delete(directory, (code, deleted) -> {});
    }
    operation.refuse(refusal.why(), refusal.message());
  }

  private void watch(String before, AttemptOperation operation) {
    nodes()
        .watch(
            child(directory, before),
            this,
            (code, stat) -> {
              if (stat != null) {
                next = before;
                operation.end(standing());
              } else if (code == Code.NONODE) {
                next = null;
                lookAtLine(true, operation);
              } else {
                operation.fail(code, before);
              }
            });
  }

  private void hold(boolean isWanted, AttemptOperation operation) {
    phase = MutexPhase.HELD;
    next = null;
    wanted = isWanted;
    Reply.Granted granted = granted();
    if (!operation.isAsked()) {
      announce(
          new SessionNotification.HoldGranted(
              name, attempt, granted.token(), granted.tokens(), granted.wanted(), false));
    }
    operation.end(granted);
  }

  @Override
  public void process(WatchedEvent event) {
    // Removing a watch fires an event as well.
    if (event.getType() != EventType.None && event.getType() != EventType.DataWatchRemoved) {
      session.step(() -> heard(event.getType() == EventType.NodeChildrenChanged));
    }
  }

  private void heard(boolean ofDirectory) {
    if (isKnown() && !ofDirectory) {
      onWatchEvent();
    } else if (isKnown() && phase == MutexPhase.HELD && !reading && !wanted) {
      wanted = true;
      announce(new SessionNotification.Contended(name, attempt));
    }
  }

  private Reply standing() {
    return phase == MutexPhase.HELD
        ? granted()
        : new Reply.Queued(attempt, Math.max(0, ahead - 1), holder(first), session.ttl());
  }

  private Reply.Granted granted() {
    if (tokensGiven == 0) {
      tokensGiven = Math.min(tokensAsked, CuratorTokens.BLOCK);
    }
    return new Reply.Granted(attempt, token, tokensGiven, wanted, null, null);
  }

  /** Another client has deleted the node. */
  private void gone(AttemptOperation operation) {
    forgotten(AttemptState.WAITING, EndReason.EVICTED);
    operation.refuse(
        RefusalReason.ENDED,
        "Node '" + node + "' in '" + directory + "' was deleted by somebody else.");
  }

  // ---- Changing and leaving ----

  @Override
  void adjust(Request.Adjust request, AttemptOperation operation) {
    if (phase != MutexPhase.HELD) {
      operation.end(Refusals.notHeld(attempt, name));
    } else if (request.mode().capacity() != Mode.SHARERS) {
      operation.refuse(
          RefusalReason.CAPACITY_DIFFERS, "'" + name + "' is a lock, not a semaphore.");
    } else if (request.mode().equals(Mode.SHARED) == reading) {
      refresh(request.tokens(), operation);
    } else if (reading) {
      operation.end(Refusals.cannotWiden(attempt, name));
    } else {
      String reader = prefix + recipe.word(true) + recipe.order(node);
      downgrade.begin(
          node,
          reader,
          operation,
          () -> isReader(reader, request.tokens(), operation),
          () -> lost(operation));
    }
  }

  private void refresh(int tokens, AttemptOperation operation) {
    nodes()
        .children(
            directory,
            null,
            (code, children) -> {
              Recipe.RecipePosition place =
                  children == null ? null : recipe.place(children, node, reading);
              if (children == null && code != Code.NONODE) {
                operation.fail(code, directory);
              } else if (place == null || !place.holds()) {
                lost(operation);
              } else {
                wanted |= place.wanted();
                moreTokens(tokens, operation);
              }
            });
  }

  private void moreTokens(int tokens, AttemptOperation operation) {
    if (tokens > 0 && !CuratorTokens.areLeft(token, tokensGiven)) {
      operation.refuse(
          RefusalReason.TOKENS_USED_UP,
          "The tokens of this hold are used up: release and acquire.");
      return;
    }
    if (tokens > 0) {
      token += tokensGiven;
      tokensGiven = Math.min(tokens, CuratorTokens.BLOCK);
    }
    operation.end(granted());
  }

  /** Another client has deleted the node of a holder. */
  private void lost(AttemptOperation operation) {
    forgotten(AttemptState.HELD, EndReason.EVICTED);
    announce(new SessionNotification.HoldEnded(name, attempt, EndReason.EVICTED));
    operation.refuse(
        RefusalReason.NOT_HELD,
        "Node '" + node + "' in '" + directory + "' was deleted by somebody else.");
  }

  private void isReader(String reader, int tokens, AttemptOperation operation) {
    node = reader;
    reading = true;
    moreTokens(tokens, operation);
  }

  @Override
  void abandon(AttemptOperation operation) {
    switch (phase) {
      case NEW -> operation.ended(AttemptState.ABSENT, EndReason.UNKNOWN);
      case IN_DOUBT -> find(operation, () -> abandon(operation));
      case WAITING -> {
        AttemptState attemptState = heldWhenFound ? AttemptState.HELD : AttemptState.WAITING;
        remove(operation, () -> operation.ended(attemptState, EndReason.RELEASED));
      }
      case HELD -> remove(operation, () -> operation.ended(AttemptState.HELD, EndReason.RELEASED));
    }
  }

  /** Deletes the node; runs the action once it is surely gone. */
  private void remove(AttemptOperation operation, Runnable then) {
    if (downgrade.isInDoubt()) {
      downgrade.removeReader(
          operation,
          () -> {
            deleting = true;
            remove(operation, then);
          });
      return;
    }
    String watched = next;
    if (watched != null) {
      // The watch would last as long as that node, and many attempts may come and give up.
      next = null;
      nodes().unwatch(child(directory, watched), this);
    }
    boolean again = deleting;
    deleting = true;
    String path = child(directory, node);
    nodes()
        .delete(
            path,
            (code, unused) -> {
              if (code == Code.NONODE && phase == MutexPhase.HELD && !again) {
                operation.ended(AttemptState.HELD, EndReason.EVICTED);
              } else if (code == Code.OK || code == Code.NONODE) {
                phase = MutexPhase.NEW;
                deleting = false;
                then.run();
              } else {
                operation.fail(code, path);
              }
            });
  }

  @Override
  AttemptState present() {
    return phase == MutexPhase.HELD
        ? AttemptState.HELD
        : phase == MutexPhase.NEW ? AttemptState.ABSENT : AttemptState.WAITING;
  }

  @Override
  boolean isBlank() {
    return phase == MutexPhase.NEW;
  }
}
