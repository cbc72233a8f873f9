package io.mortise.curator;

import io.mortise.curator.CuratorAttempt.AttemptOperation;
import java.util.List;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Finds the node of an attempt whose creation got no reply, by the id that its name begins with.
 */
final class NodeSearch {
  private final CuratorSession session;
  private final Recipe recipe;
  private final String directory;
  private final String prefix;

  /**
   * The result.
   *
   * @param reads whether it is a reader's node
   * @param holds whether its place in the line makes it hold
   * @param stat null if it has gone meanwhile
   */
  record FoundNode(String node, boolean reads, boolean holds, @Nullable Stat stat) {}

  NodeSearch(CuratorSession session, Recipe recipe, String directory, String prefix) {
    this.session = session;
    this.recipe = recipe;
    this.directory = directory;
    this.prefix = prefix;
  }

  /**
   * Searches, after all requests that were sent before over a connection that the session has left.
   *
   * @param operation failed if there is no answer
   * @param then given null if there is no node
   */
  void find(AttemptOperation operation, Consumer<@Nullable FoundNode> then) {
    session.nodes().sync(directory, (code, done) -> {});
    session
        .nodes()
        .children(
            directory,
            null,
            (code, children) -> {
              if (code == Code.NONODE) {
                then.accept(null);
              } else if (children == null) {
                operation.fail(code, directory);
              } else {
                find(children, operation, then);
              }
            });
  }

  private void find(
      List<String> children, AttemptOperation operation, Consumer<@Nullable FoundNode> then) {
    String own =
        children.stream().filter(child -> child.startsWith(prefix)).findFirst().orElse(null);
    if (own == null) {
      then.accept(null);
      return;
    }
    boolean reader = recipe == Recipe.READ_WRITE && own.contains(recipe.word(true));
    Recipe.RecipePosition place = recipe.place(children, own, reader);
    boolean holds = place != null && place.holds();
    session
        .nodes()
        .stat(
            CuratorAttempt.child(directory, own),
            (code, stat) -> {
              if (stat == null && code != Code.NONODE) {
                operation.fail(code, own);
              } else {
                then.accept(new FoundNode(own, reader, holds, stat));
              }
            });
  }
}
