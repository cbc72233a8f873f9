package io.mortise.cli;

/** The tool as a separate process, over {@link FakeClient}. */
final class FakeCliMain {
  private FakeCliMain() {}

  public static void main(String[] args) {
    FakeClient client = new FakeClient();
    client.views.add(SampleLocks.held("held"));
    client.views.add(SampleLocks.heldByFakeLease("shut"));
    System.exit(Main.execute(CliEnvironment.ofProcess((url, ttl) -> client), args));
  }
}
