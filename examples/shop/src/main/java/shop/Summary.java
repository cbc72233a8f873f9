package shop;

import io.mortise.Leadership;
import io.mortise.sql.FencedUpdate;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;

/** A row with the total sold so far, maintained by the leader only. */
@Component
public class Summary {
  private final JdbcTemplate jdbc;
  private final String instance;

  Summary(JdbcTemplate jdbc, @Value("${shop.instance}") String instance) {
    this.jdbc = jdbc;
    this.instance = instance;
  }

  /** Runs while this instance leads; interrupted when the leadership ends. */
  void keep(Leadership.Term term) throws InterruptedException {
    while (term.isLeading()) {
      Long sold =
          jdbc.queryForObject("SELECT coalesce(sum(quantity), 0) FROM purchase", Long.class);
      FencedUpdate update =
          FencedUpdate.of("summary").set("sold", sold).set("kept_by", instance).where("id", 1);
      ConnectionCallback<Boolean> execution =
          connection -> update.execute(connection, term.fencingToken());
      jdbc.execute(execution);
      Thread.sleep(200);
    }
  }
}
