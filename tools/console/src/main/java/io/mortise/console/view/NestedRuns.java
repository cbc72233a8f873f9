package io.mortise.console.view;

import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockParticipant.ClientInfo;
import io.mortise.spi.AttemptId;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds each {@code mortise run} inside the command of another one. The outer run gives its process
 * id to its command in {@link #VARIABLE}. The inner run reads it there and calls its client {@code
 * mortise in PID}, which stores show to everybody.
 */
public final class NestedRuns {
  /** The environment variable with the process id of the {@code mortise run} around a command. */
  public static final String VARIABLE = "MORTISE_PID";

  /** What the tool calls its client. */
  private static final String TOOL = "mortise";

  private static final String INSIDE = TOOL + " in ";

  /** Names are what clients say: they may go in a ring. */
  private static final int DEEPEST = 20;

  /** By the session of an inner run: the session of the outermost run around it. */
  private final Map<String, String> outermost;

  /** Those among the holders and waiters of these locks. */
  NestedRuns(Collection<LockInfo> locks) {
    Map<String, LockParticipant> parties = new LinkedHashMap<>();
    for (LockInfo lock : locks) {
      lock.holders().forEach(party -> parties.putIfAbsent(session(party), party));
      lock.waiters().forEach(party -> parties.putIfAbsent(session(party), party));
    }
    this.outermost = outermost(outer(parties));
  }

  /**
   * What the tool calls its client.
   *
   * @param variables of its environment
   */
  public static String clientName(Map<String, String> variables) {
    String outer = variables.get(VARIABLE);
    return outer != null && outer.matches("\\d{1,18}") ? INSIDE + outer : TOOL;
  }

  /** The process of the run around a client, as {@code host:pid}; null if there is none. */
  private static @Nullable String outerProcess(@Nullable ClientInfo client) {
    return client != null && client.name().startsWith(INSIDE)
        ? client.host() + ":" + client.name().substring(INSIDE.length())
        : null;
  }

  /** By the session of an inner run: the session of the run right around it. */
  private static Map<String, String> outer(Map<String, LockParticipant> parties) {
    Map<String, String> byProcess = new HashMap<>();
    Set<String> ambiguous = new HashSet<>();
    parties.forEach(
        (session, party) -> {
          ClientInfo client = party.client();
          if (client != null && client.pid() != 0) {
            String process = client.host() + ":" + client.pid();
            if (byProcess.put(process, session) != null) {
              ambiguous.add(process);
            }
          }
        });
    // Containers with one host name, where each tool is process 1: no run is known to be around
    // another.
    byProcess.keySet().removeAll(ambiguous);
    Map<String, String> outer = new HashMap<>();
    parties.forEach(
        (session, party) -> {
          String process = outerProcess(party.client());
          String around = process == null ? null : byProcess.get(process);
          if (around != null) {
            outer.put(session, around);
          }
        });
    return outer;
  }

  private static Map<String, String> outermost(Map<String, String> outer) {
    Map<String, String> outermost = new HashMap<>();
    for (String session : outer.keySet()) {
      String at = session;
      for (int depth = 0; depth < DEEPEST && outer.containsKey(at); depth++) {
        at = outer.get(at);
      }
      outermost.put(session, at);
    }
    return outermost;
  }

  /** The session of a party; of a run inside others, that of the outermost. */
  String outermostSession(LockParticipant party) {
    String session = session(party);
    return outermost.getOrDefault(session, session);
  }

  private static String session(LockParticipant party) {
    return AttemptId.parse(party.attempt()).session().value();
  }
}
