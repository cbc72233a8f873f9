package io.mortise.internal.client;

import io.mortise.Leadership.CandidateState;
import io.mortise.spi.time.DurationText;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * The log lines of a candidate.
 *
 * @param name the leadership's name
 * @param holder its client
 */
record LeaderLog(String name, String holder, String store) {
  private static final Logger log = LoggerFactory.getLogger(LeaderCandidate.class);

  void leads(LeaderTerm term) {
    log.info("Leads '{}' (holder={}, token={}, store={}).", name, holder, term.tokenText(), store);
  }

  void leadsNoLonger(LeaderTerm term) {
    log.info(
        "Leads '{}' no longer (holder={}, token={}, store={}).",
        name,
        holder,
        term.tokenText(),
        store);
  }

  void cannotStand(Throwable cause) {
    log.warn(
        "Cannot stand for leader '{}' (holder={}, store={}), and goes on trying: {}",
        name,
        holder,
        store,
        cause.getMessage());
  }

  void taskFailed(LeaderTerm term, Throwable failure) {
    log.atLevel(failure instanceof Error ? Level.ERROR : Level.WARN)
        .setCause(failure)
        .log(
            "The task of leader '{}' failed (holder={}, token={}, store={}). The candidate stands"
                + " again after a pause.",
            name,
            holder,
            term.tokenText(),
            store);
  }

  void notEnded(Duration patience, CandidateState state) {
    log.warn(
        "Leader '{}' has not ended within {} (holder={}, state={}, store={}). Its task must"
            + " return when it is interrupted; until then it keeps the leadership.",
        name,
        DurationText.format(patience),
        holder,
        state,
        store);
  }
}
