package io.mortise.jdbc.document;

import io.mortise.testkit.contract.document.ClocklessFaultContract;

/** Locks on a server that dies or stands still. */
class DerbyFaultTest extends ClocklessFaultContract<DerbyServer> {
  @Override
  protected DerbyServer start() {
    return DerbyServer.start();
  }

  @Override
  protected boolean takesSeveralServers() {
    return false;
  }
}
