package io.mortise.jdbc.document;

import io.mortise.testkit.contract.document.ClocklessFaultContract;
import io.mortise.testserver.H2Server;
import org.junit.jupiter.api.Tag;

/** Locks on a server that dies or stands still, and writes each commit before it answers. */
@Tag("product")
class H2FaultTest extends ClocklessFaultContract<H2Server> {
  @Override
  protected H2Server start() {
    return H2Server.start();
  }

  @Override
  protected boolean takesSeveralServers() {
    return false;
  }
}
