package io.mortise.dynamodb;

import io.mortise.testkit.contract.document.ClocklessFaultContract;
import io.mortise.testkit.server.DynaliteServer;

/** Locks on an emulator that dies or stands still. */
class DynamoDbFaultTest extends ClocklessFaultContract<DynaliteServer> {
  @Override
  protected DynaliteServer start() {
    return Dynalites.start();
  }

  @Override
  protected boolean takesSeveralServers() {
    return false;
  }
}
