package io.mortise.curator;

import io.mortise.spi.Reply.RefusalReason;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The reason why an attempt cannot stay in the line of its directory. */
record LineRefusal(RefusalReason why, String message) {
  /**
   * Checks a line.
   *
   * @param place the place of the attempt's node
   * @return null if nothing speaks against it
   */
  static @Nullable LineRefusal of(
      Recipe recipe,
      String directory,
      List<String> children,
      String node,
      long token,
      Recipe.RecipePosition place) {
    String misuse = recipe.misuse(children);
    if (misuse != null) {
      return new LineRefusal(
          RefusalReason.CAPACITY_DIFFERS,
          "Path '" + directory + "' is in use as " + misuse + ". Use it as that, or another name.");
    } else if (ProtectedNodeName.isLast(recipe.order(node)) || CuratorTokens.isLast(token)) {
      return new LineRefusal(
          RefusalReason.STORE_FULL,
          "The sequence numbers of path '"
              + directory
              + "' are about to overflow. They begin anew as soon as those who hold it or wait have"
              + " left.");
    } else if (!place.holds() && place.stranger() != null) {
      return new LineRefusal(
          RefusalReason.UNSUPPORTED,
          "Path '"
              + directory
              + "' has the child '"
              + place.stranger()
              + "', which is no lock's and for which Curator would wait for ever. Remove it, or use"
              + " another name.");
    }
    return null;
  }
}
