package io.mortise.zookeeper.internal.node;

import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.SessionId;
import org.jspecify.annotations.Nullable;

/**
 * The nodes below the root of a store:
 *
 * <pre>
 * epoch                     persistent: the start of tokens, see {@link TokenEpoch}
 * locks/NAME                container; data: capacity
 * locks/NAME/WEIGHT-SEQ     ephemeral, sequential: an attempt, see {@link LockQueue} and {@link NodeData}
 * locks/NAME/narrowed-WEIGHT-SEQ   ephemeral: that attempt, a holder, has this weight from now on
 * locks/NAME/least-…        persistent: the at-least time of a hold, see {@link AtLeastMark}
 * leasts                    persistent
 * leasts/ATTEMPT            persistent; data: the name of the lock that has, or had, its mark
 * sessions/ID               ephemeral: a process; data: beat, TTL, client
 * notes/ID                  container; notes for a session
 * notes/ID/ATTEMPT          ephemeral of the writer: that attempt, a holder, is wanted
 * notes/ID/ATTEMPT.evicted  persistent: an operator ends that attempt
 * facts                     persistent; written with each sweep of the facts
 * facts/XX                  persistent, a bucket; written with each removal of a fact in it
 * facts/XX/NAME             persistent; data: version, expiry, text
 * clock                     persistent; written to learn the leader's time
 * </pre>
 *
 * <p>The server removes a container some time after its last child, and missing containers are made
 * again; so an unused lock leaves nothing.
 */
public final class NodeLayout {
  /** Ends the name of a note about an eviction. */
  public static final String EVICTED = ".evicted";

  private final String root;

  /** A root like {@code /mortise}; never a slash alone. */
  public NodeLayout(String root) {
    this.root = root;
  }

  public String root() {
    return root;
  }

  public String epoch() {
    return root + "/epoch";
  }

  /** The parent of the facts' buckets. */
  public String facts() {
    return root + "/facts";
  }

  /** The node that is written to learn the leader's time. */
  public String clock() {
    return root + "/clock";
  }

  public String locks() {
    return root + "/locks";
  }

  public String lock(LockName name) {
    return root + "/locks/" + NodeNames.encode(name);
  }

  public String sessions() {
    return root + "/sessions";
  }

  public String session(SessionId id) {
    return sessions() + "/" + id;
  }

  /** The session whose node has that path; null if it is no session's node. */
  public @Nullable SessionId sessionAt(String path) {
    String prefix = sessions() + "/";
    try {
      return path.startsWith(prefix) ? new SessionId(path.substring(prefix.length())) : null;
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  public String allNotes() {
    return root + "/notes";
  }

  public String notes(SessionId id) {
    return root + "/notes/" + id;
  }

  public String note(AttemptId holder) {
    return notes(holder.session()) + "/" + holder.encoded();
  }

  /** The note that tells a session that an operator ends its attempt. */
  public String eviction(AttemptId attempt) {
    return note(attempt) + EVICTED;
  }

  /** The parent of the names of attempts with at-least times. */
  public String leasts() {
    return root + "/leasts";
  }

  /** Names the lock where the attempt has an at-least time, for sweeps. */
  public String least(AttemptId attempt) {
    return leasts() + "/" + attempt.encoded();
  }

  /** The part before the last slash. */
  public static String parent(String path) {
    return path.substring(0, path.lastIndexOf('/'));
  }

  /** The part behind the last slash. */
  public static String last(String path) {
    return path.substring(path.lastIndexOf('/') + 1);
  }
}
