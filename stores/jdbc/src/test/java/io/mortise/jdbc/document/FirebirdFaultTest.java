package io.mortise.jdbc.document;

import io.mortise.testkit.contract.document.ClocklessFaultContract;
import org.junit.jupiter.api.Tag;

/** Locks on a server that dies or stands still. */
@Tag("product")
class FirebirdFaultTest extends ClocklessFaultContract<FirebirdServer> {
  @Override
  protected FirebirdServer start() {
    return FirebirdServer.start();
  }

  @Override
  protected boolean takesSeveralServers() {
    return false;
  }
}
