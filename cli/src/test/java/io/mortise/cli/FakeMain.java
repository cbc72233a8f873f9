package io.mortise.cli;

/** The tool as a process of its own, over {@link FakeClient}. */
final class FakeMain {
  private FakeMain() {}

  public static void main(String[] args) {
    FakeClient client = new FakeClient();
    client.views.add(Samples.held("held"));
    System.exit(Main.execute(Surroundings.ofProcess((url, ttl) -> client), args));
  }
}
