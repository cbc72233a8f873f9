package io.mortise.jdbc.document;

import io.mortise.testkit.contract.document.ClocklessFaultContract;
import org.junit.jupiter.api.Tag;

/** Locks on a server that dies or stands still. */
@Tag("product")
class HsqldbFaultTest extends ClocklessFaultContract<HsqldbServer> {
  @Override
  protected HsqldbServer start() {
    return HsqldbServer.start();
  }

  @Override
  protected boolean takesSeveralServers() {
    return false;
  }
}
